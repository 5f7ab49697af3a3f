// Runs a program of the terminal: its arguments, its help, its errors in one sentence, and Ctrl+C.

import { parseArgs } from 'node:util'
import type { ParseArgsOptionsConfig } from 'node:util'
import { StartError } from '../src/lib/start-error.ts'
import { BackupError } from '../src/storage/backup/backup-file.ts'
import { CliError, exitCodes } from './cli-error.ts'

export type Arguments = {
  names: readonly string[]
  text: (option: string) => string | undefined
  has: (option: string) => boolean
}

type Program = {
  /** The first line is the usage. */
  help: string
  options: ParseArgsOptionsConfig
  /** How many arguments without a dash there may be. */
  names: { least: number; most: number }
  /** Returns the exit code. The signal aborts at Ctrl+C. */
  run: (given: Arguments, stopped: AbortSignal) => Promise<number>
}

export async function runProgram(program: Program): Promise<void> {
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stopped.abort()
    })
  }
  process.exitCode = await exitCodeOf(program, stopped.signal)
}

async function exitCodeOf(program: Program, stopped: AbortSignal): Promise<number> {
  try {
    const given = readArguments(program, process.argv.slice(2))
    if (given.has('help')) {
      console.log(program.help)
      return exitCodes.ok
    }
    return await program.run(given, stopped)
  } catch (error) {
    if (stopped.aborted) return exitCodes.stopped
    console.error(isExpected(error) ? error.message : error)
    return error instanceof CliError ? error.exitCode : exitCodes.wrong
  }
}

/** The message of such an error says what to do, or which file the system refuses. Any other error needs its stack. */
export function isExpected(error: unknown): error is Error {
  if (error instanceof CliError || error instanceof StartError || error instanceof BackupError) return true
  return error instanceof Error && 'syscall' in error && 'path' in error
}

export function readArguments({ help, options, names }: Omit<Program, 'run'>, args: string[]): Arguments {
  const wrong = (why: string) => new CliError(`${why}\n${help.split('\n')[0] ?? ''}`)
  const { values, positionals } = parse(args, { ...options, help: { type: 'boolean', short: 'h' } }, wrong)
  if (values['help'] !== true) {
    if (positionals.length < names.least) throw wrong('An argument is missing.')
    if (positionals.length > names.most) throw wrong(`There is an argument too many: ${positionals[names.most] ?? ''}`)
  }
  return {
    names: positionals,
    text: (option) => (typeof values[option] === 'string' ? values[option] : undefined),
    has: (option) => values[option] === true,
  }
}

function parse(args: string[], options: ParseArgsOptionsConfig, wrong: (why: string) => CliError) {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (cause) {
    throw wrong(cause instanceof Error ? cause.message : String(cause))
  }
}
