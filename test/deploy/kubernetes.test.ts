// The manifests agree with the settings, with the image and with the time that a stop takes.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stringify } from 'yaml'
import { Service } from '../harness/service.ts'
import {
  assertBehindProxy,
  configOf,
  longestStopSeconds,
  readYaml,
  standardPort,
  version,
} from './harness/deploy-files.ts'
import { runTool, without } from './harness/tools.ts'

type Probe = { httpGet: { path: string; port: string }; periodSeconds: number; failureThreshold: number }
type Variable = { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }
type Container = {
  image: string
  env: Variable[]
  envFrom: [{ secretRef: { name: string } }]
  ports: { name: string; containerPort: number }[]
  volumeMounts: { name: string; mountPath: string }[]
  securityContext: Record<string, unknown>
  startupProbe: Probe
  readinessProbe: Probe
  livenessProbe: Probe
}
type Deployment = {
  kind: 'Deployment'
  spec: {
    replicas: number
    strategy: { type: string }
    selector: { matchLabels: Record<string, string> }
    template: {
      metadata: { labels: Record<string, string> }
      spec: {
        terminationGracePeriodSeconds: number
        enableServiceLinks: boolean
        securityContext: Record<string, unknown>
        containers: [Container]
        volumes: { name: string }[]
      }
    }
  }
}
type ServiceManifest = {
  kind: 'Service'
  spec: { selector: Record<string, string>; ports: [{ port: number; targetPort: string }] }
}
type Manifest = Deployment | ServiceManifest | { kind: 'PersistentVolumeClaim' }

const mounts = { 'sqlite.yml': ['/data', '/tmp'], 'postgres.yml': ['/tmp'] }
/** What the secret must hold. The pod does not start without it. */
const required = { 'sqlite.yml': ['SERVICE_API_TOKEN'], 'postgres.yml': ['DATABASE_URL', 'SERVICE_API_TOKEN'] }
/** A migration of a large database may take that long. */
const longestMigrationSeconds = 30 * 60

for (const [file, paths] of Object.entries(mounts) as [keyof typeof mounts, string[]][]) {
  const manifests = readYaml(`deploy/kubernetes/${file}`) as Manifest[]
  const deployment = manifests.find((each) => each.kind === 'Deployment')
  const address = manifests.find((each) => each.kind === 'Service')
  assert.ok(deployment && address)
  const pod = deployment.spec.template.spec
  const [container] = pod.containers
  const plain = container.env.filter(({ valueFrom }) => valueFrom === undefined)
  const variables = Object.fromEntries(plain.map(({ name, value = '' }) => [name, value]))

  describe(file, () => {
    test('sets variables that exist, to values that the service takes', () => {
      assertBehindProxy(variables)
    })

    test('takes what it needs from the secret, under the same names', () => {
      const taken = container.env.flatMap(({ name, valueFrom }) => (valueFrom ? [{ name, ...valueFrom }] : []))
      const [{ secretRef }] = container.envFrom
      assert.deepEqual(
        taken.sort((one, other) => one.name.localeCompare(other.name)),
        required[file].map((key) => ({ name: key, secretKeyRef: { name: secretRef.name, key } })),
      )
      assert.equal(pod.enableServiceLinks, false)
    })

    test('listens for others only if there is a token', () => {
      assert.equal(configOf({ ...variables, SERVICE_API_TOKEN: '' }).http.host, '127.0.0.1')
      assert.equal(configOf({ ...variables, SERVICE_API_TOKEN: 'token' }).http.host, '0.0.0.0')
    })

    test('lets a migration end', () => {
      const { periodSeconds, failureThreshold } = container.startupProbe
      assert.ok(periodSeconds * failureThreshold >= longestMigrationSeconds)
    })

    test('runs one pod, and ends it before another one starts', () => {
      assert.equal(deployment.spec.replicas, 1)
      assert.equal(deployment.spec.strategy.type, 'Recreate')
    })

    test('gives the service its paths to write and nothing else', () => {
      assert.deepEqual(container.volumeMounts.map(({ mountPath }) => mountPath).sort(), paths)
      const named = new Set(pod.volumes.map(({ name }) => name))
      assert.ok(container.volumeMounts.every(({ name }) => named.has(name)))
      assert.equal(container.securityContext['readOnlyRootFilesystem'], true)
      assert.equal(pod.securityContext['runAsNonRoot'], true)
      assert.equal(pod.securityContext['runAsUser'], 1000)
    })

    test('finds its pod by the labels of the pod', () => {
      const { labels } = deployment.spec.template.metadata
      assert.deepEqual([deployment.spec.selector.matchLabels, address.spec.selector], [labels, labels])
    })

    test('waits for a stop longer than the service takes', () => {
      assert.ok(pod.terminationGracePeriodSeconds > longestStopSeconds)
    })

    test('uses the port of the settings and the version of the package', () => {
      assert.equal(variables['PORT'], String(standardPort))
      assert.deepEqual(container.ports, [{ name: 'http', containerPort: standardPort }])
      assert.deepEqual(address.spec.ports[0].targetPort, 'http')
      assert.equal(container.image, `causeway:${version}`)
    })

    test('sends requests to a pod that serves, not to one that starts or stands by', () => {
      assert.equal(container.readinessProbe.httpGet.path, '/api/ready')
      assert.equal(container.startupProbe.httpGet.path, '/api/health')
    })

    test('asks paths that answer 200 without a token', async () => {
      await using service = await Service.start()
      for (const { httpGet } of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
        assert.equal((await service.request('GET', httpGet.path, { token: null })).status, 200, httpGet.path)
      }
    })

    test('kubectl knows every field of the deployment', { skip: without('kubectl') }, () => {
      // The command drops the fields that it does not know.
      const args = ['set', 'image', '--local', '--output=json', '--filename=-', `causeway=${container.image}`]
      const input = stringify(deployment).replace(container.image, 'another')
      const read = JSON.parse(runTool('kubectl', args, { input }).stdout) as unknown
      assert.partialDeepStrictEqual(read, deployment)
    })
  })
}

test('on SQLite the database is on the volume', () => {
  const text = JSON.stringify(readYaml('deploy/kubernetes/sqlite.yml'))
  assert.ok(text.includes('{"name":"DATABASE_URL","value":"file:/data/service.db"}'))
})
