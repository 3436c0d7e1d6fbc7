#!/usr/bin/env python3
"""How often the margin that `surefit certify` proposes covers a further run: the table of
docs/command.md.

Records twelve runs each of installed programs with varied inputs into FOLDER, asks `surefit
certify` for the demand of each run, and tries all ways to choose five runs and one more. A program
that is not installed is skipped, and the script says so.

    ci/extra/margins.py SUREFIT FOLDER [PROGRAM...]
"""
import glob
import itertools
import json
import math
import os
import random
import shutil
import subprocess
import sys

RUNS = 12
REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
# c for five runs, and the least margin: lab/command/src/certify_cmd/margin.rs
FACTOR, LEAST = 3.28104, 0.1

PYTHON = '''import json,sys
rows=[json.loads(l) for l in open(sys.argv[1])]
by={}
for r in rows:
    for t in r["tags"]: by.setdefault(t,[]).append(r["name"]*2)
out=sorted((len(v),k) for k,v in by.items())
print(json.dumps(out[-50:]))
'''
PERL = ('my %c; while(<>){ for my $w (split){ $c{$w}++; push @{$l{substr($w,0,3)}}, $w if $c{$w}==1; } } '
        'print scalar(keys %c),"\\n"; print join(",",(sort {$c{$b}<=>$c{$a}} keys %c)[0..20]),"\\n";')
AWK = ('{ for(i=1;i<=NF;i++){ n[$i]++; s[substr($i,1,3)] = s[substr($i,1,3)] " " length($i) } } '
       'END { for(k in n) t+=n[k]; print t }')
NODE = ('const fs=require("fs");const rows=fs.readFileSync(process.argv[2],"utf8").trim().split("\\n")'
        '.map(l=>JSON.parse(l));const m=new Map();for(const r of rows)for(const t of r.tags)'
        'm.set(t,(m.get(t)||"")+r.name);console.log(m.size)')
JQ = 'group_by(.name)|map({n:.[0].name,c:length,t:([.[].tags[]]|unique)})|sort_by(.c)|.[-9:]'


def word(i):
    letters, length = random.Random(i), random.Random(i + 9999).randint(2, 12)
    return ''.join(letters.choice('abcdefghijklmnopqrstuvwxyz') for _ in range(length))


WORDS = [word(i) for i in range(20000)]


def text(r, lines):
    return '\n'.join(' '.join(r.choice(WORDS) for _ in range(8)) for _ in range(lines)) + '\n'


def records(r, count):
    def record(i):
        tags = [r.choice(WORDS) for _ in range(r.randint(0, 6))]
        return json.dumps({'id': i, 'name': r.choice(WORDS), 'tags': tags, 'v': r.random()})
    return '\n'.join(record(i) for i in range(count)) + '\n'


def c_source(r, functions):
    lines = ['#include <stdio.h>', '#include <stdlib.h>']
    for i in range(functions):
        steps = ''.join(f's{r.choice(["+", "-", "^"])}=(a*{r.randint(1, 99)}+b)>>{r.randint(0, 7)};'
                        f'if(s>{r.randint(1, 999)})s-=b+i;' for _ in range(r.randint(2, 9)))
        lines.append(f'int f{i}(int a,int b){{int s={r.randint(0, 99)};'
                     f'for(int i=0;i<a;i++){{{steps}}}return s;}}')
    calls = '+'.join(f'f{i}({r.randint(1, 9)},{i})' for i in range(functions))
    return '\n'.join(lines + [f'int main(void){{return {calls};}}']) + '\n'


def sql(r, rows):
    lines = ['create table t(id integer primary key, name text, v real, tag text);', 'begin;']
    for i in range(rows):
        lines.append(f"insert into t values({i},'{r.choice(WORDS)}',{r.random()},'{r.choice(WORDS)[:3]}');")
    lines += ['commit;', 'create index x on t(name);',
              'select tag,count(*),avg(v) from t group by tag order by 2 desc limit 5;',
              'select a.name from t a join t b on a.name=b.name and a.id<b.id order by a.name limit 9;']
    return '\n'.join(lines) + '\n'


class Inputs:
    """The command of one run of a program, on inputs from the seed of the run."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, 'inputs')
        os.makedirs(self.folder, exist_ok=True)
        log = subprocess.run(['git', '-C', REPOSITORY, 'log', '--format=%H'], capture_output=True, text=True)
        self.commits = log.stdout.split()
        cargo = os.path.expanduser('~/.cargo/registry/src/*/')
        lua = glob.glob(cargo + 'lua-src-*/lua-5.4*/*.c')
        self.lua = sorted(f for f in lua if os.path.getsize(f) > 4000)
        self.zstd = sorted(glob.glob(cargo + 'zstd-sys-*/zstd/lib/*/*.c'))

    def put(self, name, contents):
        path = os.path.join(self.folder, name)
        with open(path, 'w') as file:
            file.write(contents)
        return path

    def command(self, program, kind, i):
        r, tag = random.Random(f'{program}-{kind}-{i}'), f'{program}-{kind}-{i}'

        def size(base):
            alike = kind == 'alike'
            return int(base * (r.uniform(.85, 1.15) if alike else r.lognormvariate(0, .5)))

        def some(base, make):
            return self.put(tag, make(r, size(base)))

        if program.startswith('git'):
            start = r.randrange(0, max(1, len(self.commits) - 60))
            git = ['git', '-C', REPOSITORY]
            if program == 'git-log':
                return git + ['log', '--stat', f'-n{min(size(60), 200)}', self.commits[start]]
            older = self.commits[min(len(self.commits) - 1, start + size(20))]
            return git + ['diff', older, self.commits[start]]
        if program.startswith('gcc'):
            return self.compile(program, kind, i, lambda: self.put(tag + '.c', c_source(r, size(60))))
        if program == 'tar':
            folder = os.path.join(self.folder, tag + '.d')
            os.makedirs(folder, exist_ok=True)
            for k in range(size(150)):
                self.put(os.path.join(tag + '.d', f'{r.choice(WORDS)}{k}'), text(r, r.randint(1, 20)))
            return ['tar', '-C', self.folder, '-cf', '/dev/null', tag + '.d']
        if program == 'bc':
            job = f'scale={size(120)}\nfor(i=1;i<60;i++) x+=e(1/i)*l(i)\nx\nquit\n'
            return ['bc', '-l', self.put(tag, job)]
        return {
            'python3': lambda: ['/usr/bin/python3', self.put('job.py', PYTHON), some(4000, records)],
            'perl': lambda: ['perl', '-e', PERL, some(3000, text)],
            'awk': lambda: ['awk', AWK, some(3000, text)],
            'sort': lambda: ['sort', '-k2', some(20000, text)],
            'sqlite3': lambda: ['sqlite3', ':memory:', '.read ' + some(3000, sql)],
            'jq': lambda: ['jq', '-s', JQ, some(2000, records)],
            'sed': lambda: ['sed', '-e', r's/\([a-z]*\) \([a-z]*\)/\2 \1/g;H;$!d;x', some(4000, text)],
            'node': lambda: ['node', self.put('job.js', NODE), some(4000, records)],
            'xz': lambda: ['xz', '-zkc', '-T1', '-3', some(4000, text)],
        }[program]()

    def compile(self, program, kind, i, made):
        cc1 = subprocess.run(['gcc', '-print-prog-name=cc1'], capture_output=True, text=True)
        compiler = [cc1.stdout.strip(), '-quiet']
        if program == 'gcc-mixed':
            files = self.lua + self.zstd
            file = files[i * 17 % len(files)]
            folder = os.path.dirname(file)
            paths = [p for d in ('', '/..', '/../common') for p in ('-I', folder + d)]
            return compiler + ['-O1', *paths, file, '-o', '/dev/null']
        file = made() if kind == 'alike' else self.lua[i * 5 % len(self.lua)]
        return compiler + ['-O2', file, '-o', '/dev/null']


def record(surefit, folder, inputs, program, kind):
    """The traces of the runs of one program."""
    traces = []
    for i in range(RUNS):
        trace = os.path.join(folder, f'{program}.{kind}.{i:02}.sft.zst')
        if not os.path.exists(trace):
            command = [surefit, 'record', '-o', trace, '--'] + inputs.command(program, kind, i)
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        traces.append(trace)
    return [trace for trace in traces if os.path.exists(trace)]


def margin(five):
    spread = max(1 - min(of) / max(1, max(of)) for of in zip(*five))
    return max(math.ceil(spread * FACTOR * 1000) / 1000, LEAST)


def measure(demands):
    """How many of all tries are covered without and with the margin, and the margins."""
    tries = bare = covered = 0
    margins = []
    for five in itertools.combinations(demands, 5):
        more, most = margin(five), [max(of) for of in zip(*five)]
        margins.append(more)
        # Runs that are equal are different tries.
        for run in rest(demands, five):
            tries += 1
            bare += all(own <= of for own, of in zip(run, most))
            covered += all(own <= math.ceil(of * (1 + more)) for own, of in zip(run, most))
    return tries, bare, covered, sorted(margins)[len(margins) // 2]


def rest(demands, five):
    left = list(demands)
    for run in five:
        left.remove(run)
    return left


def main():
    surefit, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    programs = sys.argv[3:] or ['python3', 'perl', 'awk', 'sort', 'sqlite3', 'git-log', 'git-diff', 'gcc',
                                'gcc-mixed', 'jq', 'sed', 'bc', 'tar', 'xz', 'node']
    inputs, sums = Inputs(folder), [0, 0]
    for program in programs:
        if not shutil.which(program.split('-')[0]):
            print(f'NOT RUN: {program} is not installed')
            continue
        for kind in ['varied'] if program == 'gcc-mixed' else ['alike', 'varied']:
            traces = record(surefit, folder, inputs, program, kind)
            if len(traces) < 6:
                print(f'NOT RUN: {program} {kind}: {len(traces)} runs were recorded')
                continue
            command = [surefit, 'certify', '--format', 'json', '--trace'] + traces
            answer = subprocess.run(command, capture_output=True, text=True, check=True)
            runs = json.loads(answer.stdout)['runs']['runs']
            demands = [(run['objects'], run['block_bytes']) for run in runs]
            tries, bare, covered, median = measure(demands)
            apart = max(max(of) / max(1, min(of)) for of in zip(*demands))
            sums = [sums[0] + covered, sums[1] + tries]
            print(f'{program:10} {kind:7} {len(traces)} runs, {apart:.3f} x apart: covered without '
                  f'{100 * bare / tries:.1f} %, with the margin {100 * covered / tries:.1f} % of '
                  f'{tries}; median margin {100 * median:.1f} %', flush=True)
    print(f'all: covered {100 * sums[0] / max(1, sums[1]):.2f} % of {sums[1]}')


if __name__ == '__main__':
    main()
