// Finds the file of the embedded database in the settings.

import { loadConfig } from '../src/config/config.ts'
import { CliError } from './cli-error.ts'

type Environment = Readonly<Record<string, string | undefined>>

export function embeddedFile(environment: Environment, advice: string): string {
  const { database } = loadConfig(environment).storage
  if (database.engine === 'sqlite') return database.path
  throw new CliError(`DATABASE_URL names a PostgreSQL database: ${advice}`)
}
