#!/usr/bin/env bash
# A loop of two iterations with a failing test, a gone one, and new errors of a linter and a compiler; names hold what each
# form must escape.
set -euo pipefail
program=$1 work=$2
mkdir -p "$work/src" "$work/tests"
cd "$work"
printf 'def one():\n    return 1\n' >"src/a b,c.py"
printf 'def test_one():\n    pass\n' >tests/test_one.py
junit() { printf '<testsuite name="s">%s</testsuite>' "$1" >junit.xml; }
gcc() { printf '%b' "$1" >gcc.log; }

junit '<testcase classname="tests.test_one" name="test_&lt;a&gt; &quot;b&quot; %25, c:d" time="0.5" file="tests/test_one.py" line="2"/>
<testcase classname="tests.test_one" name="test_gone"><failure message="no"/></testcase><testcase classname="x" name="flaky"><flakyFailure/></testcase>'
gcc 'src/a b,c.py:1:1: warning: not much [-Wall]\n'
"$program" begin --loop odd --report junit.xml --report gcc-text:gcc.log --metric p99=0.5 >begin.log
junit '<testcase classname="tests.test_one" name="test_&lt;a&gt; &quot;b&quot; %25, c:d" file="tests/test_one.py" line="2"><failure message="a %0A::error::b&#10;&lt;![CDATA[ ]]&gt;"/></testcase>
<testcase classname="x" name="flaky"/><testcase name="&#228;lone"><error message="set-up"/></testcase>'
gcc "$(for n in 1 2 3 4 5 6 7; do printf 'src/a b,c.py:%s:1: error: expected ; before "x%s" 100%%%% ::x\\n' "$n" "$n"; done)"
"$program" record --report junit.xml --report gcc-text:gcc.log --label '</script><b>%0A|' >record.log
