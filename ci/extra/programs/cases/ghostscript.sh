# A document of text in several fonts, curves, gradients and pictures: drawn, made a PDF, and that drawn again; digests of the pictures.
needs=(gs:ghostscript)
version() { "$@" gs --version; }
prepare() { cp "$input/job.ps" .; }
run() {
  local quiet=(-q -dNOPAUSE -dBATCH -dSAFER)
  "$@" gs "${quiet[@]}" -sDEVICE=ppmraw -r72 -dTextAlphaBits=4 -dGraphicsAlphaBits=4 -sOutputFile=drawn-%d.ppm job.ps
  "$@" gs "${quiet[@]}" -sDEVICE=pdfwrite -sOutputFile=job.pdf job.ps
  "$@" gs "${quiet[@]}" -sDEVICE=pnggray -r60 -dNumRenderingThreads=2 -sOutputFile=again-%d.png job.pdf
  "$@" gs "${quiet[@]}" -sDEVICE=txtwrite -sOutputFile=said.txt job.pdf
  sha256sum drawn-* again-* said.txt
}
