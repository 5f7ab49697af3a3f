// Pictures of pages for the documentation. UPDATE_SCREENSHOTS=1 renews those in docs/images; otherwise they are only compared
// by size, because times and numbers on the pages differ in every run.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { wide } from './axe.ts'

const folder = new URL('../../../../docs/images/', import.meta.url)
/** A clone and a page of the documentation stay small. */
const mostBytes = 250 * 1024

export async function takePicture(page: Page, name: string): Promise<void> {
  await page.setViewportSize(wide)
  const shot = await page.screenshot({ animations: 'disabled' })
  const picture = await sharp(shot).png({ palette: true, colours: 128, effort: 10 }).toBuffer()
  const { width, height } = await sharp(picture).metadata()
  assert.deepEqual({ width, height }, wide, name)
  assert.ok(picture.length <= mostBytes, `${name} has ${picture.length} bytes`)
  const file = new URL(`${name}.png`, folder)
  if (process.env['UPDATE_SCREENSHOTS'] === '1') {
    await mkdir(folder, { recursive: true })
    await writeFile(file, picture)
  }
  assert.ok(existsSync(file), `docs/images/${name}.png is missing: run this test with UPDATE_SCREENSHOTS=1`)
}
