// Certificates for local servers, of an authority of their own, valid for 30 days, and the probe
// that asks a server behind TLS.
#pragma once

#include <filesystem>
#include <string_view>

#include "deploy/local/topology.hpp"

namespace lockmark::local {

// NAME.pem and NAME.key in the folder, signed by ca.pem; "ca" signs itself. `extension`: as in
// openssl's file of extensions.
command certificate(const site& where, const std::filesystem::path& folder, std::string_view name,
                    std::string_view subject, std::string_view extension);

// ca.pem, which comes first; server.pem for localhost and 127.0.0.1.
command authority_certificate(const site& where, const std::filesystem::path& folder);
command server_certificate(const site& where, const std::filesystem::path& folder);

// Ready once the server answers as one behind TLS.
probe tls_probe();

}  // namespace lockmark::local
