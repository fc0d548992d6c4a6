"""Reads every written form with the reader of somebody else. Ends with 1 and a line per fault if one is not what it says."""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

import jsonschema
from junitparser import JUnitXml
from prometheus_client.openmetrics.parser import text_string_to_metric_families

written, modules = map(pathlib.Path, sys.argv[1:])
sarif_schema = json.loads(next(modules.glob("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0*.json")).read_text())
ctrf_schema = json.loads(next(modules.glob("ctrf/dist/ctrf-schema*.json")).read_text())
faults, seen = [], {}


def check(path, holds, what):
    if not holds:
        faults.append(f"{path.name}: {what}")


def by_schema(path, schema):
    document = json.loads(path.read_text())
    validator = jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker())
    for error in validator.iter_errors(document):
        faults.append(f"{path.name}: {error.json_path}: {error.message[:200]}")
    return document


def sarif(path):
    run = by_schema(path, sarif_schema)["runs"][0]
    prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    check(path, len(prints) == len(set(prints)), "two results have one fingerprint")
    for result in run["results"]:
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        check(path, not re.match(r"[a-z]+:|/", uri), f"{uri} is not relative")
        check(path, run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"], "index of another rule")
    return len(prints)


def ctrf(path):
    results = by_schema(path, ctrf_schema)["results"]
    check(path, results["summary"]["tests"] == len(results["tests"]), "the summary counts other tests")
    return len(results["tests"])


def junit(path):
    suites = JUnitXml.fromfile(str(path))
    cases = [case for suite in suites for case in suite]
    check(path, suites.tests == len(cases), "the root counts other tests")
    root = ElementTree.parse(path).getroot()
    check(path, all(case.get("classname") is not None for case in root.iter("testcase")), "a test without a class")
    return len(cases)


def gitlab(path):
    issues = json.loads(path.read_text())
    check(path, not path.read_bytes().startswith(b"\xef\xbb\xbf"), "a byte order mark")
    for issue in issues:
        keys = {"description", "check_name", "fingerprint", "severity", "location"}
        check(path, set(issue) == keys, f"keys are {sorted(issue)}")
        check(path, issue["severity"] in {"info", "minor", "major", "critical", "blocker"}, issue["severity"])
        check(path, not issue["location"]["path"].startswith(("/", "./")), "a path that is not relative")
        check(path, issue["location"]["lines"]["begin"] >= 1, "a line below 1")
    return len(issues)


def openmetrics(path):
    families = list(text_string_to_metric_families(path.read_text()))
    for family in families:
        check(path, family.type == "gauge", f"{family.name} is a {family.type}")
        for sample in family.samples:
            check(path, "loop" in sample.labels and sample.timestamp is None, f"{sample}")
    return len(families)


def github(path):
    text = path.read_text()
    check(path, text.startswith("<!-- highwater:") and len(text) <= 65_536, "marker or length")
    return 1


def annotations(path):
    lines = path.read_text().splitlines()
    for line in lines:
        check(path, re.match(r"::(error|warning|notice) (file=[^:,]+,(line=\d+,)?)?title=[^:,]+::.", line), line)
    return len(lines)


def outputs(path):
    lines = path.read_text().splitlines()
    names = [line.split("=", 1)[0] for line in lines]
    check(path, all(re.fullmatch(r"[a-z-]+", name) for name in names) and len(set(names)) == len(names), f"{names}")
    return len(lines)


def html(path):
    text = path.read_text()
    check(path, not re.search(r"https?:|<script|url\(|<link|<img", text), "something from elsewhere")
    return 1


readers = {
    ".sarif": sarif, ".ctrf": ctrf, ".junit": junit, ".gitlab": gitlab, ".openmetrics": openmetrics, ".github": github,
    ".github-annotations": annotations, ".github-outputs": outputs, ".html": html,
}
for path in sorted(written.iterdir()):
    if path.suffix in readers:
        files, items = seen.get(path.suffix, (0, 0))
        try:
            seen[path.suffix] = (files + 1, items + readers[path.suffix](path))
        except Exception as error:  # a reader that gives up is what we look for
            faults.append(f"{path.name}: {type(error).__name__}: {error}")
for suffix, (files, items) in sorted(seen.items()):
    print(f"{suffix[1:]}: {files} files, {items} items")
    if items == 0:
        faults.append(f"{suffix[1:]}: nothing was in any of them")
print("\n".join(faults) or "all as published")
sys.exit(1 if faults or len(seen) < len(readers) else 0)
