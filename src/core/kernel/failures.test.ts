import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../plugin/error-codes.ts';
import { GatewayError, UpstreamError } from '../../plugin/errors.ts';
import { FAILURE_KINDS, failureKinds } from '../../plugin/failures.ts';
import { isFinalForModel } from './failures.ts';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('the kinds of failure', () => {
  it('equal the table in docs/route/failures.md', () => {
    const rows = [...read('docs/route/failures.md').matchAll(/^\| `([a-z_]+)` \| (yes|no) \| (.+) \|$/gm)].map(
      ([, kind, goesOn, help]) => [kind, goesOn, help],
    );
    expect(rows).toEqual(
      Object.entries(FAILURE_KINDS).map(([kind, { fallsThrough, help }]) => [kind, fallsThrough ? 'yes' : 'no', help]),
    );
  });

  it('are those that a gateway config may name', () => {
    const { properties } = (
      JSON.parse(read('schemas/gateway.json')) as {
        definitions: { strategy: { properties: Record<string, { items: { enum: string[] } }> } };
      }
    ).definitions.strategy;
    expect(properties['on_errors']!.items.enum).toEqual(['default', ...Object.keys(FAILURE_KINDS)]);
    expect(properties['stop_on_errors']!.items.enum).toEqual(Object.keys(FAILURE_KINDS));
  });

  it('are one for each way an upstream can fail, and none for the rest', () => {
    const without = (Object.keys(ERRORS) as ErrorCode[]).filter(
      (code) => failureKinds(new UpstreamError(code, 'x')).length === 0,
    );
    const ofUpstream = without.filter((code) =>
      /^(?:upstream_|timeout|stream_|connection_|tls_|credentials_|rate_|reply_)/.test(code),
    );
    // Not failures of the target: the request came without the needed token, its own time is over, or a plugin held the reply back.
    expect(ofUpstream).toEqual(['upstream_credentials_required', 'timeout_request', 'reply_withheld']);
    expect(failureKinds(new GatewayError('overloaded', 'x'))).toEqual([]);
    expect(failureKinds(new GatewayError('unsupported_task', 'x'))).toEqual(['unsupported']);
    expect(failureKinds(new TypeError('x'))).toEqual([]);
  });

  it('are two for one inside a stream', () => {
    const inStream = (code: ErrorCode) => failureKinds(new UpstreamError(code, 'x', { inStream: true }));
    expect(inStream('overloaded')).toEqual(['overloaded', 'stream_error']);
    expect(inStream('upstream_error')).toEqual(['server_error', 'stream_error']);
    expect(inStream('stream_interrupted')).toEqual(['stream_error']);
  });

  it('distinguish refusals by the model itself', () => {
    const codes = Object.keys(ERRORS) as ErrorCode[];
    const of = (rule: (error: unknown) => boolean) => codes.filter((code) => rule(new UpstreamError(code, 'x')));
    expect(of(isFinalForModel)).toEqual(['context_length_exceeded', 'content_filter']);
  });
});
