// Loads compose files as `docker compose` does, every profile: the JSON schema of the Compose
// Specification, then what must fit together (networks, volumes, dependencies). Starts nothing.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/cli"
)

func check(file string) error {
	options, err := cli.NewProjectOptions([]string{file},
		cli.WithWorkingDirectory(filepath.Dir(file)),
		cli.WithProfiles([]string{"*"}))
	if err != nil {
		return err
	}
	project, err := cli.ProjectFromOptions(options)
	if err != nil {
		return err
	}
	if len(project.DisabledServices) > 0 {
		return fmt.Errorf("%d services are disabled", len(project.DisabledServices))
	}
	fmt.Printf("%s: %d services\n", file, len(project.Services))
	return nil
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "Usage: compose COMPOSE.yaml...")
		os.Exit(2)
	}
	status := 0
	for _, file := range os.Args[1:] {
		if err := check(file); err != nil {
			fmt.Printf("%s: %s\n", file, err)
			status = 1
		}
	}
	os.Exit(status)
}
