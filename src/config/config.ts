// Turns the environment into the typed Config, or reports everything that is wrong with it at once.

import { StartError } from '../lib/start-error.ts'
import { findNodeProblems, nodeUrlOf } from './node-settings.ts'
import { settings } from './settings.ts'
import type { Setting } from './settings.ts'

type Settings = typeof settings
type Values = {
  -readonly [S in keyof Settings]: {
    -readonly [K in keyof Settings[S]]: Settings[S][K] extends Setting<infer T> ? T : never
  }
}

/** A setting whose text differs from its default, as it may be shown: a secret only as set. */
export type DifferingSetting = { name: string; value: string; standard: string; isSecret: boolean }

export type Config = Values & { differing: readonly DifferingSetting[] }

class ConfigError extends StartError {
  constructor(problems: readonly string[]) {
    super(`the configuration is not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Reads every setting; all wrong values are reported together. */
export function loadConfig(environment: Environment): Config {
  const problems: string[] = []
  const config = mapSettings((each) => {
    const given = environmentText(environment, each)
    const value = each.kind.parse(given)
    if (value === undefined) problems.push(`${each.name}=${showText(each, given)}: takes ${each.kind.takes}`)
    return value
  }) as Values
  if (config.network.version.length !== 0 && config.network.version.length !== 3) {
    problems.push(
      `SERVICE_NETWORK_VERSION=${config.network.version.join(',')}: takes three numbers, separated by commas`,
    )
  }
  // A value that is not usable is reported above; what depends on it cannot be judged.
  if (problems.length === 0) problems.push(...findNodeProblems(config))
  if (problems.length > 0) throw new ConfigError(problems)
  config.nodes.url ??= nodeUrlOf(config.nodes.listen)
  config.http.host ||= config.http.apiToken === '' ? '127.0.0.1' : '0.0.0.0'
  return { ...config, differing: listDiffering(environment) }
}

/** The settings that differ from their defaults, for the log. */
export function describeConfig(environment: Environment): Record<string, string> {
  return Object.fromEntries(listDiffering(environment).map(({ name, value }) => [name, value]))
}

function listDiffering(environment: Environment): DifferingSetting[] {
  return allSettings().flatMap((each) => {
    const given = environmentText(environment, each)
    if (given === each.standard) return []
    const { name, standard, kind } = each
    return [{ name, value: showText(each, given), standard, isSecret: kind.secret ?? false }]
  })
}

/** Variables that look like ours but are not, such as a misspelt name. */
export function unknownVariables(environment: Environment): string[] {
  const known = new Set(allSettings().map((each) => each.name))
  return Object.keys(environment).filter(
    (name) => /^(SERVICE_|DOWNSTREAM_|PUBLIC_STATS_)/.test(name) && !known.has(name),
  )
}

export function allSettings(): Setting<unknown>[] {
  const rows: Setting<unknown>[] = []
  for (const section of Object.values(settings)) rows.push(...Object.values<Setting<unknown>>(section))
  return rows
}

function mapSettings(read: (each: Setting<unknown>) => unknown): object {
  const entries = Object.entries(settings).map(([section, rows]) => [
    section,
    Object.fromEntries(Object.entries<Setting<unknown>>(rows).map(([key, each]) => [key, read(each)])),
  ])
  return Object.fromEntries(entries) as object
}

// An empty variable counts as absent: that is how compose files and .env leave a value out.
function environmentText(environment: Environment, { name, kind, standard }: Setting<unknown>): string {
  const given = environment[name] ?? ''
  return (kind.verbatim ? given : given.trim()) || standard
}

function showText({ kind }: Setting<unknown>, given: string): string {
  return kind.show ? kind.show(given) : given
}
