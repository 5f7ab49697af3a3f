// The routes behind the pages of the dashboard with which an operator looks after the service.

import type { HttpApp } from '../../http-app.ts'
import { addAccessTestRoutes } from './access-test.ts'
import type { AccessTestDeps } from './access-test.ts'
import { addBackupRoutes } from './backups.ts'
import type { BackupDeps } from './backups.ts'
import { addDestinationsRoute } from './destinations.ts'
import type { DestinationDeps } from './destinations.ts'
import { addSettingsRoute } from './settings.ts'
import type { SettingsDeps } from './settings.ts'
import { addSupportBundleRoute } from './support-bundle.ts'
import type { BundleDeps } from './support-bundle.ts'
import { addWarningsRoute } from './warnings.ts'
import type { WarningDeps } from './warnings.ts'

export type OperateDeps = {
  warnings: WarningDeps
  destinations: DestinationDeps
  accessTests: AccessTestDeps
  settings: SettingsDeps
  backups: BackupDeps
  bundle: Omit<BundleDeps, 'settings' | 'warnings'>
}

export function addOperateRoutes(app: HttpApp, deps: OperateDeps): void {
  const { warnings, destinations, accessTests, settings, backups, bundle } = deps
  addWarningsRoute(app, warnings)
  addDestinationsRoute(app, destinations)
  addAccessTestRoutes(app, accessTests)
  addSettingsRoute(app, settings)
  addBackupRoutes(app, backups)
  addSupportBundleRoute(app, { ...bundle, settings, warnings })
}
