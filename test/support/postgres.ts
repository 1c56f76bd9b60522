import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** A PostgreSQL server of the test's own on loopback, in a folder of its own. */
export interface TestPostgres {
  readonly port: number;
  /** The address of its database, with a password. @param port of a relay before it */
  url(port?: number): string;
  /** PEM of the authority of its certificate for `localhost`. */
  readonly ca: string;
  /** Starts it again after `kill` or `stop`. */
  start(): Promise<void>;
  /** As a power failure would. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Stops it and removes its folder. */
  end(): Promise<void>;
}

const USER = 'gatehouse';
const STARTS_MS = 120_000;

const debian = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1);
const found = (program: string): string | undefined =>
  [debian ?? '', ...(process.env['PATH'] ?? '').split(delimiter)]
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));

/** Why there can be no server. Undefined: there can. In CI it has to be there. */
export function postgresMissing(programs: readonly string[] = ['initdb', 'postgres']): string | undefined {
  const missing = programs.filter((program) => !found(program));
  if (missing.length === 0) return undefined;
  const reason = `${missing.join(' and ')} not found: apt-get install postgresql pgbouncer`;
  if (process.env['CI']) throw new Error(reason);
  return reason;
}

/** A server that follows another one by streaming, and may take its place. */
export interface TestStandby extends TestPostgres {
  /** From now on it is the primary. */
  promote(): Promise<void>;
}

interface Place {
  readonly folder: string;
  readonly data: string;
  readonly owner: ReturnType<typeof otherUser>;
  readonly password: string;
}

function newPlace(password: string): Place {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-postgres-'));
  const owner = otherUser();
  if (owner) chownSync(folder, owner.uid, owner.gid);
  return { folder, data: join(folder, 'data'), owner, password };
}

/** Relays and gateways of this process have to go on while it runs. */
async function runIn(
  { folder, owner }: Place,
  program: string,
  args: readonly string[],
  env: object = {},
): Promise<void> {
  const child = spawn(found(program)!, args, {
    ...owner,
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (piece: Buffer) => (said += piece.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${program} failed: ${said}`);
}

/** @param settings of postgresql.conf, such as `max_connections=20` or `ssl=on` */
export async function startPostgres(settings: readonly string[] = []): Promise<TestPostgres> {
  const place = newPlace(randomBytes(12).toString('hex'));
  const { folder, data, owner, password } = place;
  const secret = join(folder, 'password');
  writeFileSync(secret, password, { mode: 0o600 });
  if (owner) chownSync(secret, owner.uid, owner.gid);
  const auth = ['--auth=scram-sha-256', `--pwfile=${secret}`];
  await runIn(place, 'initdb', ['-D', data, '-U', USER, ...auth, '--no-sync', '-E', 'UTF8', '--locale=C']);
  const ca = settings.includes('ssl=on') ? makeCertificate(folder, data, owner) : '';
  return startIn(place, settings, ca);
}

/** @param from port of the primary, or of a relay before it */
export async function startStandby(primary: TestPostgres, from: number = primary.port): Promise<TestStandby> {
  const { password } = new URL(primary.url());
  const place = newPlace(password);
  const { data } = place;
  const source = ['-h', '127.0.0.1', '-p', String(from), '-U', USER];
  await runIn(place, 'pg_basebackup', ['-D', data, ...source, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'], {
    PGPASSWORD: password,
  });
  const server = await startIn(place, [], primary.ca);
  return { ...server, promote: () => runIn(place, 'pg_ctl', ['promote', '-D', data, '-w', '-t', '60']) };
}

async function startIn(
  { folder, data, owner, password }: Place,
  settings: readonly string[],
  ca: string,
): Promise<TestPostgres> {
  const port = await freePort();
  const all = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', ...settings];
  let server: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ended = server;
    server = undefined;
    if (!ended || ended.exitCode !== null || ended.signalCode !== null) return;
    const exited = new Promise((exit) => ended.once('exit', exit));
    ended.kill(signal);
    await exited;
  };
  const start = async (): Promise<void> => {
    const args = all.flatMap((setting) => ['-c', setting]);
    for (const until = Date.now() + STARTS_MS; ; await wait(200)) {
      server = spawn(found('postgres')!, ['-D', data, ...args], { ...owner, cwd: folder, stdio: 'ignore' });
      if (await answers(port, server)) return;
      // The processes of one that was killed need a moment to notice that they are alone, and the next server waits for none of them.
      if (Date.now() > until) throw new Error('the server ends at its start');
    }
  };
  await start();
  return {
    port,
    ca,
    url: (at = port) => `postgres://${USER}:${password}@127.0.0.1:${at}/postgres`,
    start,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGINT'),
    async end() {
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** pgbouncer in transaction mode before a server: each transaction of a client may run in another session. */
export async function startPgbouncer(server: TestPostgres): Promise<{ readonly url: string; end(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pgbouncer-'));
  const owner = otherUser();
  const { username, password } = new URL(server.url());
  const port = await freePort();
  const users = join(folder, 'users.txt');
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(users, `"${username}" "${password}"\n`);
  writeFileSync(
    settings,
    `[databases]
postgres = host=127.0.0.1 port=${server.port} dbname=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = 6
max_client_conn = 200
server_reset_query_always = 1
server_reset_query = DISCARD ALL
`,
  );
  if (owner) for (const path of [folder, users, settings]) chownSync(path, owner.uid, owner.gid);
  const bouncer = spawn(found('pgbouncer') ?? '/usr/sbin/pgbouncer', ['-q', settings], {
    ...owner,
    cwd: folder,
    stdio: 'ignore',
  });
  if (!(await answers(port, bouncer))) throw new Error('pgbouncer has ended at its start');
  return {
    url: server.url(port),
    async end() {
      const exited = new Promise((exit) => bouncer.once('exit', exit));
      bouncer.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function makeCertificate(folder: string, data: string, owner: ReturnType<typeof otherUser>): string {
  const openssl = (...args: string[]): void => {
    const { status, stderr } = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`openssl failed: ${stderr}`);
  };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=test authority');
  const names = ['-addext', 'subjectAltName=DNS:localhost'];
  openssl('req', ...key, '-keyout', `${data}/server.key`, '-out', 'server.csr', '-subj', '/CN=localhost', ...names);
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-copy_extensions', 'copy', '-days', '2'];
  openssl('x509', '-req', '-in', 'server.csr', ...signed, '-out', `${data}/server.crt`);
  for (const name of ['server.key', 'server.crt']) {
    chmodSync(join(data, name), 0o600);
    if (owner) chownSync(join(data, name), owner.uid, owner.gid);
  }
  return readFileSync(join(folder, 'ca.pem'), 'utf8');
}

/** PostgreSQL does not run as root. */
function otherUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout || 65534);
  return { uid: id('-u'), gid: id('-g') };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

/** A connection is accepted, and a server that still starts or recovers refuses the startup message: asked until it asks for a password. False: it has ended. */
async function answers(port: number, child: ChildProcess): Promise<boolean> {
  const until = Date.now() + STARTS_MS;
  while (Date.now() < until) {
    if (child.exitCode !== null || child.signalCode !== null) return false;
    if ((await firstByte(port)) === 'R') return true;
    await wait(50);
  }
  throw new Error(`the server on port ${port} does not answer`);
}

/** The type of the first message to a client: R asks for a password, E is an error. */
function firstByte(port: number): Promise<string | undefined> {
  const params = `user\0${USER}\0database\0postgres\0\0`;
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + params.length, 0);
  head.writeInt32BE(196_608, 4);
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (byte?: string): void => {
      socket.destroy();
      resolve(byte);
    };
    socket.setTimeout(5_000, end);
    socket.on('error', () => end());
    socket.on('close', () => end());
    socket.on('connect', () => socket.write(Buffer.concat([head, Buffer.from(params)])));
    socket.on('data', (data) => end(String.fromCharCode(data[0]!)));
  });
}
