# Keep or revert by one number, in the manner of autoresearch: an experiment that does not give the best number is taken
# back, and the next one starts from the best.

cat >highwater.yaml <<'END'
metrics: {val_bpb: {direction: lower}}
select: {primary: val_bpb}
END
measure() { ./train >run.log 2>&1; echo "val_bpb=$(sed -n 's/^val_bpb: *//p' run.log)"; }

highwater begin --loop research --metric "$(measure)"
for experiment in 1 2 3; do
    agent -p "$(cat program.md)"
    highwater record --label "experiment $experiment" --metric "$(measure)"
    best=$(highwater status --json | sed -n 's/.*"best":{"iteration":\([0-9]*\).*/\1/p')
    [ "$best" = "$experiment" ] || highwater restore "$best"
done
highwater finish
