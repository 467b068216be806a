#include "drivers/conformance/conformance.hpp"
