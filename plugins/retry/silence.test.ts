import { expect, it } from 'vitest';
import { ERRORS, UpstreamError, type ErrorCode } from '../../src/plugin/index.ts';
import { isSilence } from './silence.ts';

it('Full timeouts are silences, and no other failure is', () => {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  expect(codes.filter((code) => isSilence(new UpstreamError(code, 'x')))).toEqual([
    'pool_exhausted',
    'timeout_connect',
    'timeout_first_byte',
    'timeout_first_content',
    'timeout_idle',
  ]);
});
