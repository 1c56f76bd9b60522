import { createRequire } from 'node:module';
import type { ServerFile } from '../../../../schemas/types.generated.ts';
import type { Secret } from '../../../plugin/index.ts';
import type { RestartOnly } from '../../../core/process/restart-only.ts';
import type { Report } from '../../../core/kernel/report.ts';
import type { Check } from '../../../core/settings/checks/check.ts';
import { isLoopback } from '../../../core/settings/compile/networks.ts';
import { valueAt } from '../../../core/settings/schema/pointer.ts';

interface SharedSettings {
  readonly type: 'valkey' | 'redis';
  readonly url: Secret;
  readonly prefix: string;
  /** Text of the keys that seal values. Undefined: values are written as they are. */
  readonly encryptionKeys: Secret | undefined;
}

export interface EngineAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly verified: boolean } | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
}

interface WrittenShared {
  readonly type: 'valkey' | 'redis';
  readonly url: Secret;
  readonly prefix?: string;
}

/** A build without a store has no such key. */
const writtenIn = (server: ServerFile): WrittenShared | undefined =>
  // The schema has been checked.
  valueAt(server, ['state', 'shared']) as WrittenShared | undefined;

/** `state.shared` of server.yaml with its defaults. Undefined: the gateway shares nothing. */
export function sharedOf(server: ServerFile): SharedSettings | undefined {
  const shared = writtenIn(server);
  const encryptionKeys = valueAt(server, ['state', 'encryption_keys']) as Secret | undefined;
  return shared && { type: shared.type, url: shared.url, prefix: shared.prefix ?? 'gatehouse', encryptionKeys };
}

export const SHARED_AT_START: readonly RestartOnly[] = [
  { path: ['state', 'shared'], read: (_, file) => (writtenIn(file) ? 'on' : 'off') },
  { path: ['state', 'shared', 'url'], read: (_, file) => writtenIn(file)?.url.reveal(), hidden: true },
  { path: ['state', 'shared', 'prefix'], read: (_, file) => writtenIn(file)?.prefix },
];

const PACKAGE = '@redis/client';
const DEFAULT_PORT = 6379;

const isInstalled = (): boolean => {
  try {
    createRequire(import.meta.url).resolve(PACKAGE);
    return true;
  } catch {
    return false;
  }
};

export const checkShared: Check = () => ({ server: (file, report) => checkFile(file, report, isInstalled()) });

export function checkFile(file: ServerFile, report: Report, installed: boolean): void {
  const shared = writtenIn(file);
  if (!shared) return;
  const path = ['state', 'shared'];
  if (!installed)
    report({
      path: [...path, 'type'],
      message: `\`${shared.type}\` needs the package ${PACKAGE}, which is not installed beside the gateway: \`npm install ${PACKAGE}@6\``,
    });
  const address = addressIn(shared.url);
  if (!address)
    report({
      path: [...path, 'url'],
      message:
        'the address must look like "rediss://HOST:6379/0", with USER:PASSWORD@ before the host, or "redis://HOST:6379" without TLS',
    });
  else if (!address.tls && !isLoopback(address.host))
    report({
      path: [...path, 'url'],
      severity: 'warning',
      message: 'without TLS the password and what is shared cross the network in clear text: use `rediss://`',
    });
}

/** Undefined: it is no such address. No error shows the text, which has a password in it. */
export function addressIn(url: Secret): EngineAddress | undefined {
  const text = url.reveal();
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port, username, password, pathname, search } = new URL(text);
  const database = pathname.replace(/^\//, '');
  if (!/^rediss?:$/.test(protocol) || hostname === '' || search !== '' || !/^[0-9]{0,4}$/.test(database))
    return undefined;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  try {
    return {
      host,
      port: port === '' ? DEFAULT_PORT : Number(port),
      tls: protocol === 'rediss:' ? { verified: !isLoopback(host) } : undefined,
      username: decodeURIComponent(username) || undefined,
      password: decodeURIComponent(password) || undefined,
      database: Number(database),
    };
  } catch {
    return undefined;
  }
}
