import type { Guard } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../../core/kernel/report.ts';
import { readOptions } from '../../../core/settings/compile/plugin-options.ts';
import { Secret } from '../../../plugin/index.ts';
import { CHECKS } from './check-options.ts';

/** The options of a guard with their defaults; undefined with problems. A `secret` is a `Secret`. */
export function readGuardOptions(
  { check, options = {} }: Guard,
  report: Report,
): Readonly<Record<string, unknown>> | undefined {
  // Guards of keys that the state store has are read without their secrets marked.
  const given: unknown = options.secret;
  const secret = typeof given === 'string' ? new Secret(given) : given;
  // The schema of the check is one of texts.
  const written = secret instanceof Secret ? { ...options, secret: secret.reveal() } : options;
  const read = readOptions({ schema: CHECKS[check].options, trusted: true }, written, ['options'], report);
  return read && secret instanceof Secret ? { ...read, secret } : read;
}
