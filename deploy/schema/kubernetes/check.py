# Reads the resources of a Kustomization from stdin and holds each to the JSON schemas that
# Kubernetes publishes, in their strict form: keys that do not exist are refused, too.
import sys

import kubernetes_validate
import yaml

# The first in which agents.yaml's podReplacementPolicy works by default, and the newest.
VERSIONS = ["1.29", "1.31"]


def problems(resource):
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(resource, version, strict=True)
        except kubernetes_validate.ValidationError as e:
            at = ".".join(str(part) for part in e.path)
            yield f"Kubernetes {version}: {at}: {e.message}"
        except kubernetes_validate.SchemaNotFoundError as e:
            yield e.message


def main(name):
    resources = [r for r in yaml.safe_load_all(sys.stdin) if r is not None]
    found = 0
    for resource in resources:
        of = f'{resource["kind"]} {resource["metadata"]["name"]}'
        for problem in problems(resource):
            print(f"{name}: {of}: {problem}")
            found += 1
    if found == 0:
        print(f"{name}: {len(resources)} resources")
    return 1 if found else 0


sys.exit(main(sys.argv[1]))
