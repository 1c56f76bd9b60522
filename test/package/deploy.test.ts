import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { checkSettings } from '../../src/core/dry-run/check-settings.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { deployPage, PAGE } from './deploy-page.ts';
import { parseDuration } from '../../src/core/kernel/units.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import { compileServerSettings } from '../../src/core/settings/compile/server-settings.ts';
import { loadSettings, type Settings } from '../../src/core/settings/read/load.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-deploy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (path: string): string => readFileSync(packageFile(path), 'utf8');
/** Less than this is left to a process that has to end its last replies and exit. */
const MARGIN_MS = 5_000;

/** Settings as `gatehouse validate` reads them. */
async function valid(dir: string, env: Readonly<Record<string, string>>): Promise<Settings> {
  const loaded = await loadSettings(dir, { env });
  if (loaded.settings) await checkSettings(loaded, dir);
  expect(loaded.diagnostics).toEqual([]);
  return loaded.settings!;
}

function drainMs(settings: Settings): number {
  const { drain } = compileServerSettings(settings.server);
  return drain.delayMs + drain.timeoutMs;
}

/** Commented lines of YAML or of a unit that an operator may need, uncommented. Comments in prose end with a full stop. */
const uncommented = (text: string): string => text.replaceAll(/^( *)# ((?:- )?[\w]+[:=]\S*.*[^.])$/gm, '$1$2');

interface Compose {
  readonly volumes?: Readonly<Record<string, object>>;
  readonly services: {
    readonly gatehouse: {
      readonly read_only: boolean;
      readonly cap_drop: readonly string[];
      readonly ports: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly volumes: readonly string[];
      readonly stop_grace_period: string;
    };
  };
}

it('docs/operate/deploy.md shows the files as they are', () => {
  const page = readFileSync(PAGE, 'utf8');
  expect(page).toBe(deployPage(page));
  for (const file of ['deploy/systemd/gatehouse.service', 'deploy/kubernetes/deployment.yaml'])
    expect(page).toContain(`\n${read(file)}`);
});

describe('compose.yaml', () => {
  const { gatehouse: service } = (parse(read('compose.yaml')) as Compose).services;

  it('mounts settings that are valid, read-only, with the variables that they need', async () => {
    const [from = '', to, mode] = service.volumes[0]!.split(':');
    expect([to, mode]).toEqual(['/etc/gatehouse', 'ro']);
    const env = Object.fromEntries(Object.keys(service.environment).map((name) => [name, `${name}-0123456789`]));
    const settings = await valid(packageFile(from), env);
    expect(parseDuration(service.stop_grace_period)).toBeGreaterThanOrEqual(drainMs(settings) + MARGIN_MS);
    expect(service.ports).toEqual([`127.0.0.1:8787:${settings.server.listen!.port}`]);
  });

  it('mounts a volume for the state store where its commented lines are in force', () => {
    const { services, volumes } = parse(uncommented(read('compose.yaml'))) as Compose;
    const [name = '', to] = services.gatehouse.volumes[1]!.split(':');
    expect(Object.keys(volumes!)).toEqual([name]);
    expect(read('Dockerfile')).toContain(`COPY --from=install --chown=1000:1000 /opt/gatehouse/empty ${to}\n`);
    expect(read('Dockerfile')).toContain(` SQLITE_TMPDIR=${to}\n`);
  });

  it('gives the container no rights that it does not need', () => {
    expect([service.read_only, service.cap_drop]).toEqual([true, ['ALL']]);
  });
});

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: Readonly<Record<string, unknown>>;
        readonly containers: readonly [Container & { readonly name: string }];
        readonly volumes: readonly [{ readonly name: string; readonly configMap: { readonly name: string } }];
      };
    };
  };
}

interface StatefulDeployment {
  readonly spec: {
    readonly replicas: number;
    readonly strategy: object;
    readonly template: {
      readonly spec: {
        readonly securityContext: { readonly fsGroup: number };
        readonly containers: readonly [
          {
            readonly name: string;
            readonly volumeMounts: readonly [{ readonly name: string; readonly mountPath: string }];
          },
        ];
        readonly volumes: readonly object[];
      };
    };
  };
}

interface ConfigMap {
  readonly metadata: { readonly name: string };
  readonly data: Readonly<Record<string, string>>;
}

interface Service {
  readonly spec: { readonly ports: readonly [{ readonly targetPort: string }] };
}

/** As the kubelet mounts a ConfigMap: each file is a link through `..data`, which is exchanged as a whole. */
function mount(data: Readonly<Record<string, string>>): string {
  const [dir, version] = [join(folder, 'mounted'), '..2026_11_23_00_00_00.1'];
  mkdirSync(join(dir, version), { recursive: true });
  symlinkSync(version, join(dir, '..data'));
  for (const [name, text] of Object.entries(data)) {
    writeFileSync(join(dir, version, name), text);
    symlinkSync(join('..data', name), join(dir, name));
  }
  return dir;
}

describe('the manifests of Kubernetes', () => {
  const { spec } = (parse(read('deploy/kubernetes/deployment.yaml')) as Deployment).spec.template;
  const [container] = spec.containers;
  const map = parse(read('deploy/kubernetes/settings.yaml')) as ConfigMap;
  const { startupProbe, readinessProbe, livenessProbe } = container;
  const env = { GATEHOUSE_KEY: 'gatehouse-key-0123456789', GATEHOUSE_HOST: '127.0.0.1' };
  const dir = mount(map.data);

  it('mount settings that are valid, and wait longer than they drain', async () => {
    const settings = await valid(dir, env);
    const grace = spec.terminationGracePeriodSeconds * 1000;
    expect(grace).toBeGreaterThanOrEqual(drainMs(settings) + MARGIN_MS);
    const { delayMs } = compileServerSettings(settings.server).drain;
    // Endpoints are removed before the port closes.
    expect(readinessProbe.periodSeconds * readinessProbe.failureThreshold * 1000).toBeLessThan(delayMs);
    expect(spec.volumes[0].configMap.name).toBe(map.metadata.name);
    expect(container.args.at(-1)).toBe(container.volumeMounts[0]!.mountPath);
    const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]));
    expect(ports).toEqual({ http: settings.server.listen!.port, status: settings.server.status!.port });
    const [service] = parseAllDocuments(read('deploy/kubernetes/service.yaml')).map((one) => one.toJS() as Service);
    expect(service!.spec.ports[0].targetPort).toBe('http');
  });

  it('probe paths that a gateway with these settings answers, and its readiness ends with the drain', async () => {
    const server = map.data['server.yaml']!.replaceAll(/port: \d+/g, 'port: 0').replace('delay: 5s', 'delay: 300ms');
    const own = join(folder, 'own');
    mkdirSync(own);
    for (const [name, text] of Object.entries({ ...map.data, 'server.yaml': `${server}\nadmin: { enabled: false }\n` }))
      writeFileSync(join(own, name), text);
    const gateway = await startGateway({ configs: own, env, logTo: { write: () => {} } });
    const ask = async ({ httpGet }: Probe) => (await fetch(gateway.status.url + httpGet.path)).status;
    const probes = [startupProbe, readinessProbe, livenessProbe];
    expect(probes.map(({ httpGet }) => httpGet.port)).toEqual(['status', 'status', 'status']);
    expect(await Promise.all(probes.map(ask))).toEqual([200, 200, 200]);
    const drained = gateway.drain();
    expect(await Promise.all(probes.map(ask))).toEqual([503, 503, 200]);
    await drained;
  });

  it('give the container no rights that it does not need, and the user of the image', () => {
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const [, uid] = /^USER (\d+):/m.exec(read('Dockerfile')) ?? [];
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: Number(uid) });
    expect(container.env).toContainEqual({ name: 'GATEHOUSE_HOST', value: '0.0.0.0' });
  });
});

describe('the state store in a container (docs/operate/deploy.md)', () => {
  const page = readFileSync(PAGE, 'utf8');
  const [, section = ''] = /\n### The state store in a container\n([^]*?)\n## /.exec(page) ?? [];
  const [, settings = ''] = /```yaml\n([^]*?)```/.exec(section) ?? [];
  const [, changes = ''] = /```yml\n([^]*?)```/.exec(section) ?? [];

  it('has a Deployment with one pod, whose volume has the folder of the store and belongs to the user of the image', () => {
    const [changed, claim] = parseAllDocuments(changes).map((one) => one.toJS() as StatefulDeployment & ConfigMap);
    const { spec } = changed!.spec.template;
    const shipped = (parse(read('deploy/kubernetes/deployment.yaml')) as Deployment).spec.template.spec;
    expect([changed!.spec.replicas, changed!.spec.strategy]).toEqual([1, { type: 'Recreate' }]);
    expect(spec.containers.map(({ name }) => name)).toEqual(shipped.containers.map(({ name }) => name));
    expect(spec.securityContext.fsGroup).toBe(shipped.securityContext['runAsUser']);
    const [mount] = spec.containers[0].volumeMounts;
    expect(spec.volumes).toEqual([{ name: mount.name, persistentVolumeClaim: { claimName: claim!.metadata.name } }]);
    const { state } = parse(settings) as { readonly state: { readonly store: { readonly dir: string } } };
    expect(state.store.dir.startsWith(`${mount.mountPath}/`)).toBe(true);
  });
});

describe('the unit of systemd', () => {
  const unit = read('deploy/systemd/gatehouse.service');
  const valueOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';

  it('waits longer than the settings of deploy/settings drain, and reloads by the signal of a reload', async () => {
    const settings = await valid(packageFile('deploy/settings'), { GATEHOUSE_KEY: 'gatehouse-key-0123456789' });
    expect(parseDuration(valueOf('TimeoutStopSec'))).toBeGreaterThanOrEqual(drainMs(settings) + MARGIN_MS);
    expect(valueOf('ExecReload')).toBe('/bin/kill -HUP $MAINPID');
    expect(valueOf('ExecStart')).toMatch(/ serve --configs \/etc\/gatehouse --workers 2$/);
  });

  it.runIf(spawnSync('systemd-analyze', ['--version']).status === 0).each([
    ['as it is', unit],
    ['with its commented lines in force', uncommented(unit)],
  ])('is one that systemd understands, %s', (_, text) => {
    const file = join(folder, 'gatehouse.service');
    // The machine of the test may have its Node elsewhere.
    writeFileSync(file, text.replace('ExecStart=/usr/bin/node', `ExecStart=${process.execPath}`));
    const { stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.includes('gatehouse.service'))).toEqual([]);
  });

  it('has commented lines for the folders and files that the pages name', () => {
    const lines = uncommented(unit).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'CacheDirectory=gatehouse',
        'Environment=NODE_COMPILE_CACHE=/var/cache/gatehouse',
        'LoadCredential=vertex.json:/etc/gatehouse-credentials/vertex.json',
        'SupplementaryGroups=gatehouse-tls',
      ]),
    );
  });
});
