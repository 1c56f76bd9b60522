import { UpstreamError, type ErrorCode } from '../../src/plugin/index.ts';

const SILENCES: ReadonlySet<ErrorCode> = new Set([
  'pool_exhausted',
  'timeout_connect',
  'timeout_first_byte',
  'timeout_first_content',
  'timeout_idle',
]);

/** A full timeout passed without result: the same target would cost as much time again. */
export const isSilence = (error: unknown): boolean => error instanceof UpstreamError && SILENCES.has(error.code);
