// npm run bench -- <name>: runs one benchmark and prints its result as one JSON object; without a name it lists them. The first
// word of several names runs all of them, one after the other: `nodes` runs nodes-idle, nodes-forward and the rest.

import { globSync } from 'node:fs'
import { cpus } from 'node:os'
import { basename } from 'node:path'
import type { Benchmark, BenchmarkResult, Target } from './benchmark.ts'

const files = globSync('**/*.bench.ts', { cwd: import.meta.dirname }).sort()
const names = files.map(nameOf)
const [name] = process.argv.slice(2)
const asked = files.filter((file) => nameOf(file) === name || nameOf(file).startsWith(`${name}-`))

if (name === undefined) {
  console.log(names.join('\n'))
} else if (asked.length === 0) {
  console.error(`there is no benchmark ${name}; there are: ${names.join(', ')}`)
  process.exitCode = 1
} else {
  for (const file of asked) await runBenchmark(file)
}

async function runBenchmark(file: string): Promise<void> {
  const { run } = (await import(`./${file}`)) as Benchmark
  const result = await run()
  const missed = missedTargets(result)
  console.log(JSON.stringify({ name: nameOf(file), ...result, missed, machine: describeMachine() }, null, 2))
  if (missed.length > 0) process.exitCode = 1
}

function nameOf(file: string): string {
  return basename(file, '.bench.ts')
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
