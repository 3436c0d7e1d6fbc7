// Compression, digests, JSON, regular expressions and buffers: on the main thread, in the pool of threads, and in twelve workers.
const zlib = require('zlib'), crypto = require('crypto'), util = require('util');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');

const digest = (bytes) => crypto.createHash('sha256').update(bytes).digest('hex').slice(0, 16);
const text = (i) => Buffer.from(JSON.stringify(Array.from({ length: 50 }, (_, j) => ({ i, j, s: 'x'.repeat((i * j) % 200) }))));

function work(seed, turns) {
  const kept = [];
  let whole = '';
  for (let i = 0; i < turns; i++) {
    const bytes = zlib.deflateSync(text(seed + i), { level: 1 + (i % 9) });
    kept[(i * 7919) % 64] = Buffer.concat([zlib.inflateSync(bytes), Buffer.alloc((i * 31) % 9000, 'y')]);
    const parsed = JSON.parse(text(seed + i).toString());
    whole = digest(whole + digest(bytes) + parsed.filter((each) => /^x{10,90}$/.test(each.s)).length);
  }
  return digest(whole + kept.map(digest).join());
}

async function pool() {
  const deflate = util.promisify(zlib.deflate), inflate = util.promisify(zlib.inflate), scrypt = util.promisify(crypto.scrypt);
  const packed = await Promise.all(Array.from({ length: 400 }, (_, i) => deflate(text(i))));
  const unpacked = await Promise.all(packed.map((bytes) => inflate(bytes)));
  const keys = await Promise.all(Array.from({ length: 8 }, (_, i) => scrypt('word' + i, 'salt', 32, { N: 2048 })));
  return digest(Buffer.concat([...unpacked, ...keys]));
}

const inWorker = (seed) => new Promise((done, failed) => {
  const worker = new Worker(__filename, { workerData: seed });
  let said;
  worker.on('message', (message) => { said = message; });
  worker.on('error', failed);
  worker.on('exit', (code) => (code === 0 ? done(said) : failed(new Error('a worker ended with ' + code))));
});

async function main() {
  console.log('main', work(1, 1000));
  console.log('pool', await pool());
  for (let wave = 0; wave < 3; wave++) {
    console.log('workers', (await Promise.all([1, 2, 3, 4].map((i) => inWorker(wave * 4 + i)))).join(' '));
  }
}

if (isMainThread) main().catch((error) => { console.error(error); process.exit(1); });
else parentPort.postMessage(work(workerData * 1000, 150));
