# gnuplot cluster_model.gnuplot, in this folder: the figure of RESULTS.md
set terminal svg size 720,420 font "sans,12"
set output "cluster_model.svg"
set logscale xy
set xlabel "ranks"
set ylabel "GB/s of one image"
set key left top
set grid
model = "< ./cluster_model --data "
plot model."--storage 1000G --candidates 0.4" using 1:3 with linespoints title "storage 1000 GB/s, 0.4 candidates a MB", \
     model."--storage 1000G" using 1:3 with linespoints title "storage 1000 GB/s, 4 candidates a MB", \
     model."--storage 40G --candidates 0.4" using 1:3 with linespoints title "storage 40 GB/s, 0.4 candidates a MB", \
     model."--storage 5G" using 1:3 with linespoints title "storage 5 GB/s, 4 candidates a MB"
