// The cookie of a dashboard session, as browsers send and store it.

import { sessionMs } from './dashboard-sessions.ts'

export const sessionCookieName = 'causeway_session'

/** The values of all cookies of that name; a browser sends one. */
export function readSessionCookies(header = ''): string[] {
  return header.split(';').flatMap((each) => {
    const [name = ''] = each.split('=', 1)
    return name.trim() === sessionCookieName ? [each.slice(name.length + 1).trim()] : []
  })
}

/** `isSecure`: the browser sends the cookie over https only. */
export function writeSessionCookie(value: string, isSecure: boolean): string {
  return cookie(value, sessionMs / 1000, isSecure)
}

/** Makes the browser remove the cookie. */
export function clearSessionCookie(isSecure: boolean): string {
  return cookie('', 0, isSecure)
}

function cookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  const fixed = `${sessionCookieName}=${value}; HttpOnly; SameSite=Strict; Path=/api; Max-Age=${maxAgeSeconds}`
  return isSecure ? `${fixed}; Secure` : fixed
}
