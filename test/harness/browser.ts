// A real browser for tests of pages, if one is installed.

import { existsSync } from 'node:fs'
import type { Browser } from 'playwright-core'

const path = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  .filter((each) => each !== undefined)
  .find((each) => existsSync(each))

/** Why a test that needs the browser is skipped. False if there is a browser. */
export const withoutBrowser = path === undefined && 'no chromium is installed'

export async function openBrowser(): Promise<Browser> {
  // Only here: the library loads slowly, and most processes open no browser.
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath: path ?? '', args: ['--no-sandbox'] })
}
