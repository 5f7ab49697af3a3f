// Pictures of pages for the documentation. UPDATE_SCREENSHOTS=1 renews those in docs/images. Otherwise only sizes are compared,
// because the times on the pages differ in every run.

import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { wide } from './axe.ts'

type Size = { width: number; height: number }

const folder = new URL('../../../../docs/images/', import.meta.url)
/** A clone and a page of the documentation stay small. */
const mostBytes = 250 * 1024

export async function takePicture(page: Page, name: string, size: Size = wide): Promise<void> {
  await page.setViewportSize(size)
  await page.evaluate('scrollTo(0, 0)')
  // An image that is not drawn yet leaves a white place.
  await page.evaluate('Promise.all(Array.from(document.images, (image) => image.decode()))')
  const shot = await page.screenshot({ animations: 'disabled' })
  const picture = await sharp(shot).png({ palette: true, colours: 128, effort: 10 }).toBuffer()
  await assertPicture(picture, size, `the picture ${name}`)
  const file = new URL(`${name}.png`, folder)
  if (process.env['UPDATE_SCREENSHOTS'] === '1') {
    await mkdir(folder, { recursive: true })
    await writeFile(file, picture)
  }
  const stored = await readFile(file).catch(() => undefined)
  assert.ok(stored, `docs/images/${name}.png is missing: run this test with UPDATE_SCREENSHOTS=1`)
  await assertPicture(stored, size, `docs/images/${name}.png`)
}

async function assertPicture(picture: Buffer, size: Size, what: string): Promise<void> {
  const { width, height, format } = await sharp(picture).metadata()
  assert.deepEqual({ width, height, format }, { ...size, format: 'png' }, what)
  assert.ok(picture.length <= mostBytes, `${what} has ${picture.length} bytes`)
}
