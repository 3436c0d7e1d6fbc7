# Made pictures and sound, through filters, encoded by several threads and decoded again: digests of every packet and frame.
needs=(ffmpeg:ffmpeg)
version() { "$@" ffmpeg -version; }
prepare() { :; }
run() {
  local quiet=(-hide_banner -nostdin -loglevel error -y)
  "$@" ffmpeg "${quiet[@]}" -f lavfi -i testsrc2=size=320x180:rate=25 -f lavfi -i sine=frequency=440:sample_rate=44100 -t 4 \
    -vf 'hue=s=1.2,scale=256:144,unsharp,fade=in:0:20' -c:v mpeg4 -threads 2 -c:a pcm_s16le -bitexact -fflags +bitexact job.avi
  sha256sum job.avi
  "$@" ffmpeg "${quiet[@]}" -i job.avi -map 0:v -c:v libx264 -preset fast -threads 2 -bitexact -f framemd5 - | sha256sum
  "$@" ffmpeg "${quiet[@]}" -i job.avi -map 0:a -c:a flac -bitexact -f framemd5 - | sha256sum
  "$@" ffmpeg "${quiet[@]}" -threads 4 -i job.avi -filter_complex '[0:v]split[a][b];[b]transpose,scale=144:144[c];[a][c]overlay,boxblur=2' \
    -bitexact -f framemd5 - | sha256sum
}
