import { createHash } from 'node:crypto';
import type { MintedToken } from '../../state/memory/tokens.ts';
import type { ProviderSetup } from '../definition.ts';
import { SCOPE } from './google-oauth.ts';
import { isProjectId } from './hosts.ts';

/** Something Google access tokens can be had from. Holds secrets in what it closes over: there is nothing to print. */
export interface TokenSource {
  /** A hash of what defines the credential: its tokens are kept under it. */
  readonly key: string;
  /** The project the credential itself belongs to, where its kind says so. */
  readonly projectId: string | undefined;
  /** The project that calls are counted and billed to, where the credential names one. */
  readonly quotaProjectId: string | undefined;
  /** Throws TokenFault. */
  mint(): Promise<MintedToken>;
  /** Looks, before the first request, for what would fail every one of them. Throws TokenFault. */
  check?(): Promise<void>;
}

/** Says what is wrong with one field of a credential, or with all of it; never quotes it. */
export type Refuse = (field: string | undefined, message: string) => undefined;

/** The fields of a credential's JSON. */
export type CredentialFields = Readonly<Record<string, unknown>>;

export type TokenSetup = Pick<ProviderSetup, 'upstreamExchange' | 'clock' | 'tokenUris'>;

/** What every reader of a credential gets. */
export interface SourceContext {
  readonly setup: TokenSetup;
  readonly refuse: Refuse;
}

export const NOT_LISTED = "is neither Google's nor listed in egress.token_uris of server.yaml";

/** A field with text in it. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** True, and refused, where a field that every kind of credential may have makes it one that cannot be used. */
export function isUnusable(
  { universe_domain: universe, quota_project_id: quota }: CredentialFields,
  refuse: Refuse,
): boolean {
  // Clouds run by others under names of their own: nothing here would reach them.
  if (universe !== undefined && universe !== 'googleapis.com') {
    refuse('universe_domain', 'only the universe googleapis.com is supported');
    return true;
  }
  // It goes into a header.
  if (quota === undefined || quota === '' || (typeof quota === 'string' && isProjectId(quota))) return false;
  refuse('quota_project_id', 'quota_project_id is not a project id');
  return true;
}

/** Every token here has the same scope; with another it would be another token. */
export function keyOf(...parts: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([...parts, SCOPE]))
    .digest('hex');
}

/** Reads a credential of one kind; undefined where it cannot be used, which is reported. */
export type ReadTokenSource = (fields: CredentialFields, context: SourceContext) => TokenSource | undefined;
