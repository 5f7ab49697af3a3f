// npm run bench -- <name>: runs one benchmark and prints its result as one JSON object; without a name it lists them.

import { globSync } from 'node:fs'
import { cpus } from 'node:os'
import { basename } from 'node:path'
import type { Benchmark, BenchmarkResult, Target } from './benchmark.ts'

const files = globSync('*.bench.ts', { cwd: import.meta.dirname }).sort()
const names = files.map((file) => basename(file, '.bench.ts'))
const [name] = process.argv.slice(2)

if (name === undefined) {
  console.log(names.join('\n'))
} else if (!names.includes(name)) {
  console.error(`there is no benchmark ${name}; there are: ${names.join(', ')}`)
  process.exitCode = 1
} else {
  const { run } = (await import(`./${name}.bench.ts`)) as Benchmark
  const result = await run()
  const missed = missedTargets(result)
  console.log(JSON.stringify({ name, ...result, missed, machine: describeMachine() }, null, 2))
  if (missed.length > 0) process.exitCode = 1
}

function missedTargets({ ratios, targets }: BenchmarkResult): string[] {
  return Object.entries(targets).flatMap(([ratio, target]) => {
    const value = ratios[ratio]
    if (value === undefined) return [`${ratio} was not measured`]
    return meets(value, target) ? [] : [`${ratio} is ${value}, wanted ${JSON.stringify(target)}`]
  })
}

function meets(value: number, { atLeast = -Infinity, atMost = Infinity }: Target): boolean {
  return value >= atLeast && value <= atMost
}

function describeMachine(): object {
  const all = cpus()
  return {
    node: process.version,
    platform: process.platform,
    arch: process.arch,
    cpu: all[0]?.model,
    cores: all.length,
  }
}
