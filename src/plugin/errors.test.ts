import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ERRORS } from './error-codes.ts';
import { GatewayError, UpstreamError } from './errors.ts';
import { toGatewayError } from '../core/kernel/errors.ts';

describe('the table of errors', () => {
  it('gives every code a client or server status, a type, a flag and an explanation', () => {
    for (const [code, kind] of Object.entries(ERRORS)) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(kind.status).toBeGreaterThanOrEqual(400);
      expect(kind.status).toBeLessThan(600);
      expect(kind.help).toMatch(/\.$/);
    }
  });

  it('hides internal errors from the client', () => {
    const error = toGatewayError(new Error('password is hunter2'));
    expect([error.code, error.status, error.message.includes('hunter2')]).toEqual(['internal_error', 500, false]);
  });

  it('hides the upstream’s 401 to the gateway’s own credentials from clients, but not from rules', () => {
    const error = new UpstreamError('upstream_credentials_refused', 'no');
    expect([error.status, error.clientStatus, error.final]).toEqual([401, 502, true]);
    const other = new UpstreamError('overloaded', 'busy', { status: 529 });
    expect([other.status, other.clientStatus, other.final]).toEqual([529, 529, false]);
  });

  it('keeps a gateway error as it is, and an upstream’s own status', () => {
    const error = new UpstreamError('overloaded', 'busy', { status: 529 });
    expect(toGatewayError(error)).toBe(error);
    expect([error.status, error.retryable, error instanceof GatewayError]).toEqual([529, true, true]);
  });

  it('is an Error with a stack, which shows a fault of the code', () => {
    const cause = new Error('broken');
    const error = new GatewayError('internal_error', 'no', { cause });
    expect([error instanceof Error, String(error), error.cause]).toEqual([true, 'GatewayError: no', cause]);
    expect(Object.keys(error)).not.toContain('message');
    expect(error.stack).toMatch(/^GatewayError: no\n {4}at .*errors\.test\.ts:/);
  });

  it('has no stack when it reports what an upstream did', () => {
    const error = new UpstreamError('overloaded', 'busy');
    expect([error instanceof Error, String(error), inspect(error).split('\n')[0]]).toEqual([
      true,
      'UpstreamError: busy',
      '[UpstreamError: busy] {',
    ]);
    expect([error.stack, 'cause' in error]).toEqual([undefined, false]);
  });
});
