import { StateFailure } from '../../../core/ports/failures.ts';

export type Pg = typeof import('pg').default;

export const INSTALL_PG =
  'a store of type `postgres` needs the package `pg`: run `npm install pg@8` beside the gateway';

/** The driver is an optional peer: only a gateway with a store of this type needs it. Rejects with `StateFailure`. */
export async function loadPg(): Promise<Pg> {
  try {
    return (await import('pg')).default;
  } catch (error) {
    if (!isPgMissing(error)) throw error;
    throw new StateFailure('invalid', INSTALL_PG);
  }
}

const isPgMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes("'pg'");
