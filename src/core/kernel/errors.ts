import { GatewayError } from '../../plugin/errors.ts';
import { blamedPlugin } from './outside/blame.ts';

export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('internal_error', 'The gateway failed to handle this request.', {
    cause: error,
    plugin: blamedPlugin(error),
  });
}

/** The result of the work; undefined where it throws a GatewayError. */
export function unlessRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
