import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { checkSettings } from '../../src/core/dry-run/check-settings.ts';
import { isObject } from '../../src/core/kernel/index.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { loadSettings } from '../../src/core/settings/read/load.ts';

const FOLDER = 'deploy/kubernetes/fleet';
const read = (name: string): string => readFileSync(packageFile(`${FOLDER}/${name}`), 'utf8');
/** Kubernetes itself is not here: the manifests are read as trees. */
const at = (tree: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inner, name) => (Array.isArray(inner) || isObject(inner) ? Object(inner)[name] : undefined),
    tree,
  );
const podOf = (name: string): unknown => at(parseAllDocuments(read(name))[0]!.toJS(), 'spec', 'template', 'spec');

const deployment = podOf('deployment.yaml');
const stateful = podOf('statefulset.yaml');
const map: unknown = parse(read('settings.yaml'));
const SECRETS = {
  DATABASE_URL: 'postgres://gatehouse:secret@db.example:5432/gatehouse',
  VALKEY_URL: 'rediss://gatehouse:secret@valkey.example:6379',
  GATEHOUSE_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};
const CA = '/run/fleet/ca.pem';

describe('the manifests of a fleet', () => {
  it('mount settings that are valid with the variables of their secret', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-fleet-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const ca = join(dir, 'ca.pem');
    writeFileSync(ca, '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n');
    for (const [name, text] of Object.entries(Object(at(map, 'data')) as Record<string, string>))
      writeFileSync(join(dir, name), text.replaceAll(CA, ca));
    const loaded = await loadSettings(dir, { env: SECRETS });
    if (loaded.settings) await checkSettings(loaded, dir);
    expect(loaded.diagnostics.map(({ message }) => message)).toEqual([]);
    const named = read('deployment.yaml')
      .match(/--from-literal=[A-Z_]+/g)
      ?.map((one) => one.slice(15));
    expect(named).toEqual(['GATEHOUSE_BOOTSTRAP_TOKEN', ...Object.keys(SECRETS)]);
  });

  it('have one pod, which keeps its own folder on a volume of its own or loses it', () => {
    const container = at(deployment, 'containers', 0);
    expect(at(stateful, 'containers', 0)).toEqual(container);
    const mounts = at(container, 'volumeMounts') as readonly { readonly name: string; readonly mountPath: string }[];
    const { state } = parse(String(at(map, 'data', 'server.yaml'))) as { readonly state: { readonly dir: string } };
    const own = mounts.find(({ name }) => name === 'state')!;
    expect(state.dir.startsWith(`${own.mountPath}/`)).toBe(true);
    expect(at(deployment, 'volumes', 2)).toMatchObject({ name: 'state', emptyDir: { sizeLimit: '2Gi' } });
    const [set] = parseAllDocuments(read('statefulset.yaml'));
    expect(at(set!.toJS(), 'spec', 'volumeClaimTemplates', 0, 'metadata')).toEqual({ name: 'state' });
    // The folder of a volume belongs to the user of the image.
    for (const pod of [deployment, stateful])
      expect(at(pod, 'securityContext')).toMatchObject({ runAsUser: 1000, fsGroup: 1000 });
  });

  it('have the container of a single gateway, which test/package/deploy.test.ts holds to what the gateway does', () => {
    const single: unknown = parse(readFileSync(packageFile('deploy/kubernetes/deployment.yaml'), 'utf8'));
    const one = at(single, 'spec', 'template', 'spec', 'containers', 0);
    const without = (container: unknown): object => ({ ...Object(container), envFrom: [], volumeMounts: [] });
    expect(without(at(deployment, 'containers', 0))).toEqual(without(one));
    const job = podOf('migrate.yaml');
    // Without the flag it would copy the catalog of settings.yaml to the store, and no pod would start.
    expect(at(job, 'containers', 0, 'args')).toEqual(['state', 'migrate', '--tables', '--configs', '/etc/gatehouse']);
    expect([at(job, 'containers', 0, 'image'), at(job, 'containers', 0, 'envFrom')]).toEqual([
      at(one, 'image'),
      at(deployment, 'containers', 0, 'envFrom'),
    ]);
  });

  it('select the pods of the gateway by one label, and the job is none of them', () => {
    const label = { 'app.kubernetes.io/name': 'gatehouse' };
    const policy: unknown = parse(read('network.yaml'));
    const [service, budget] = parseAllDocuments(read('service.yaml')).map((one): unknown => one.toJS());
    expect([
      at(policy, 'spec', 'podSelector', 'matchLabels'),
      at(service, 'spec', 'selector'),
      at(budget, 'spec', 'selector', 'matchLabels'),
    ]).toEqual([label, label, label]);
    const job: unknown = parse(read('migrate.yaml'));
    expect(at(job, 'spec', 'template', 'metadata', 'labels')).not.toMatchObject(label);
    const scaled: unknown = parse(read('autoscaler.yaml'));
    expect([
      at(scaled, 'spec', 'scaleTargetRef', 'name'),
      at(scaled, 'spec', 'behavior', 'scaleDown', 'policies'),
    ]).toEqual([
      at(parse(read('deployment.yaml')), 'metadata', 'name'),
      [{ type: 'Pods', value: 1, periodSeconds: 60 }],
    ]);
  });
});
