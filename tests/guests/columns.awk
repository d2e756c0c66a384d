# The named columns of a report with `--format csv`, rows of single workers only:
#   ... --format csv | awk -v names="metric cpu memory_node" -f columns.awk
# Not for reports with a comma within a value.
BEGIN { FS = ","; count = split(names, wanted, " ") }
NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
$at["rank"] == "" { next }
{
  line = ""
  for (i = 1; i <= count; ++i) {
    if (!(wanted[i] in at)) { print "no column " wanted[i]; exit 1 }
    line = line (i > 1 ? " " : "") $at[wanted[i]]
  }
  print line
}
