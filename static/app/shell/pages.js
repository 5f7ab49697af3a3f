// All pages of the dashboard: their addresses, and whether the navigation lists them.

/** @typedef {(props: { params: Record<string, string> }) => import('../lib/html.js').Node} Page */
/** @typedef {keyof typeof import('./texts.js').texts.en} ShellText */
/** @typedef {{ pattern: string, title: ShellText, inNavigation: boolean, load: () => Promise<{ Page: Page }> }} PageEntry */

/** @type {readonly PageEntry[]} */
export const pages = [
  {
    pattern: '/',
    title: 'overview',
    inNavigation: true,
    load: () => import('../pages/overview/overview-page.js'),
  },
  ...['/new-instance', '/new-instance/:name/:step'].map((pattern) => ({
    pattern,
    title: /** @type {const} */ ('newInstance'),
    inNavigation: false,
    load: () => import('../pages/new-instance/new-instance-page.js'),
  })),
  {
    pattern: '/instances/:name',
    title: 'instance',
    inNavigation: false,
    load: () => import('../pages/instance/instance-page.js'),
  },
  {
    pattern: '/helpdesks',
    title: 'helpdesks',
    inNavigation: true,
    load: () => import('../pages/helpdesks/helpdesks-page.js'),
  },
  {
    pattern: '/jobs',
    title: 'jobs',
    inNavigation: true,
    load: () => import('../pages/jobs/jobs-page.js'),
  },
  {
    pattern: '/usage',
    title: 'usage',
    inNavigation: true,
    load: () => import('../pages/usage/usage-page.js'),
  },
  {
    pattern: '/nodes',
    title: 'nodes',
    inNavigation: true,
    load: () => import('../pages/nodes/nodes-page.js'),
  },
  {
    pattern: '/log',
    title: 'log',
    inNavigation: true,
    load: () => import('../pages/log/log-page.js'),
  },
  {
    pattern: '/settings',
    title: 'settings',
    inNavigation: true,
    load: () => import('../pages/settings/settings-page.js'),
  },
]
