// Holds dashboards to Grafana's published schema, as strict types: unknown keys, missing ones, wrong
// types and impossible values are errors, also within the options of each kind of panel and within
// Prometheus queries.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func check(file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !json.Valid(raw) {
		return fmt.Errorf("is not JSON")
	}
	var d dashboard.Dashboard
	if err := d.UnmarshalJSONStrict(raw); err != nil {
		return err
	}
	return d.Validate()
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "Usage: grafana DASHBOARD.json...")
		os.Exit(2)
	}
	plugins.RegisterDefaultPlugins()
	status := 0
	for _, file := range os.Args[1:] {
		if err := check(file); err != nil {
			fmt.Printf("%s:\n  %s\n", file, strings.ReplaceAll(err.Error(), "\n", "\n  "))
			status = 1
		}
	}
	os.Exit(status)
}
