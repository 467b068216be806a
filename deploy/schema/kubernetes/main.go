// Prints what `kubectl apply --kustomize` would apply: the resources of a folder with a
// kustomization.yaml. Applies nothing.
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func resources(folder string) ([]byte, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).
		Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, err
	}
	return built.AsYaml()
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "Usage: kustomize FOLDER")
		os.Exit(2)
	}
	text, err := resources(os.Args[1])
	if err != nil {
		fmt.Printf("%s: %s\n", os.Args[1], err)
		os.Exit(1)
	}
	os.Stdout.Write(text)
}
