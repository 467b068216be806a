# A Homebrew formula for Linux, where lockmark runs. deploy/package/build fills in the words between
# at signs, from the tarball that it has made.
class Lockmark < Formula
  desc "Benchmark distributed locks on real clusters"
  homepage "@HOMEPAGE@"
  url "@HOMEPAGE@/releases/download/v@VERSION@/lockmark-@VERSION@-linux-x86_64.tar.gz"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on arch: :x86_64
  depends_on :linux

  def install
    # Whole, since lockmark finds its libraries by its own place.
    libexec.install Dir["*"]
    bin.install_symlink libexec/"bin/lockmark"
    man1.install_symlink libexec/"share/man/man1/lockmark.1.gz"
    bash_completion.install_symlink libexec/"share/bash-completion/completions/lockmark"
    zsh_completion.install_symlink libexec/"share/zsh/site-functions/_lockmark"
    fish_completion.install_symlink libexec/"share/fish/vendor_completions.d/lockmark.fish"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/lockmark --version").strip
    assert_match "held", shell_output("#{bin}/lockmark run contended --on memory: --duration 1s")
  end
end
