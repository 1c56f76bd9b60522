import { createHash } from 'node:crypto';
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

/** The fields of a credential's JSON. */
export type CredentialFields = Readonly<Record<string, unknown>>;

export type TokenSetup = Pick<ProviderSetup, 'upstreamExchange' | 'clock' | 'tokenUris'>;

/** The context of every reader of credentials. */
export interface SourceContext {
  readonly setup: TokenSetup;
  readonly refuse: Refuse;
}

export const NOT_LISTED = "is neither Google's nor listed in egress.token_uris of server.yaml";

/** The text of a field; undefined where it is empty or not text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

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
export function keyOf(...parts: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([...parts, SCOPE]))
    .digest('hex');
}

/** Reads a credential of one type; undefined when a problem was reported. */
export type ReadTokenSource = (fields: CredentialFields, context: SourceContext) => TokenSource | undefined;
