import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { MintedToken } from '../../memory/ports.ts';
import type { ProviderSetup } from '../definition.ts';
import { SCOPE } from './google-oauth.ts';
import { isProjectId } from './hosts.ts';

/** A source of Google access tokens. It holds secrets in closures only, so that printing it shows none. */
export interface TokenSource {
  /** A hash of the credential, under which the token store keeps its tokens. */
  readonly key: string;
  /** The project of the credential itself, for types that name one. */
  readonly projectId: string | undefined;
  /** The project to which calls are charged, where the credential names one. */
  readonly quotaProjectId: string | undefined;
  /** Throws TokenFault. */
  mint(): Promise<MintedToken>;
  /** Detects, before the first request, problems that would fail every request. Throws TokenFault. */
  check?(): Promise<void>;
}

/** Reports a problem with a credential or with one of its fields. The message never quotes the credential. */
export type Refuse = (field: string | undefined, message: string) => undefined;

export type CredentialFields = Readonly<Record<string, unknown>>;

export type TokenSetup = Pick<ProviderSetup, 'upstreamExchange' | 'clock' | 'tokenUris'>;

export interface SourceContext {
  readonly setup: TokenSetup;
  readonly refuse: Refuse;
}

export const NOT_LISTED = "is neither Google's nor listed in egress.token_uris of server.yaml";

/** The text of a field; undefined where it is empty or not text. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Checks the fields that all types of credentials share. True, with a reported problem, where one makes it unusable. */
export function isUnusable(
  { universe_domain: universe, quota_project_id: quota }: CredentialFields,
  refuse: Refuse,
): boolean {
  // Other universes are clouds of other operators with their own host names, which the gateway does not support.
  if (universe !== undefined && universe !== 'googleapis.com') {
    refuse('universe_domain', 'only the universe googleapis.com is supported');
    return true;
  }
  // The quota project is sent in a header, so it must be a valid id.
  if (quota === undefined || quota === '' || (typeof quota === 'string' && isProjectId(quota))) return false;
  refuse('quota_project_id', 'quota_project_id is not a project id');
  return true;
}

/** The key of a credential. It includes the scope, which is the same for every token here. */
export const keyOf = (...parts: readonly string[]): string => hash('sha256', JSON.stringify([...parts, SCOPE]));

/** Reads a credential of one type; undefined when a problem was reported. */
export type ReadTokenSource = (fields: CredentialFields, context: SourceContext) => TokenSource | undefined;

/** Credentials and tokens have a few KiB; the bound stops a wrong path (a log, a disk image) from filling the memory. */
const MAX_BYTES = 64 * 1024;

type TextFile = { readonly text: string } | { readonly missing: true } | { readonly problem: string };

/** Reads regular files only (and links to them, as Kubernetes mounts them): opening a pipe could block for ever. */
export async function readTextFile(path: string): Promise<TextFile> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) return { problem: 'is not a regular file' };
      if (stat.size > MAX_BYTES) return { problem: `is larger than ${MAX_BYTES} bytes` };
      return { text: await file.readFile('utf8') };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
    return code === 'ENOENT' || code === 'ENOTDIR' ? { missing: true } : { problem: `cannot be read (${code})` };
  }
}
