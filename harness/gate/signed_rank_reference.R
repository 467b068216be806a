# Makes signed_rank_reference.json: what R's wilcox.test says of some paired differences.
#   Rscript signed_rank_reference.R > signed_rank_reference.json
set.seed(1)
cases <- list()
for (n in c(5, 6, 8, 10, 15, 20, 30)) {
  for (shift in c(-0.05, 0, 0.1)) {
    x <- round(rnorm(n, shift, 0.1), 6)
    half <- wilcox.test(x, conf.int = TRUE, exact = TRUE, conf.level = 0.90)
    p <- wilcox.test(x, alternative = "greater", exact = TRUE)$p.value
    one <- function(level)
      wilcox.test(x, alternative = "greater", conf.int = TRUE, exact = TRUE,
                  conf.level = level)$conf.int[1]
    cases[[length(cases) + 1]] <- sprintf(
      '  {"x": [%s], "hodges_lehmann": %.12g, "lower95": %.12g, "lower99": %s, "p": %.12g}',
      paste(sprintf("%.6f", x), collapse = ", "), half$estimate, one(0.95),
      if (n < 7) "null" else sprintf("%.12g", one(0.99)), p)
  }
}
cat("[\n", paste(unlist(cases), collapse = ",\n"), "\n]\n", sep = "")
