import type { HeaderExplanation } from '../../explanation/explanation.ts';
import { mayHoldCredential } from '../../../../core/settings/checks/forward-headers.ts';
import type { Observation } from '../observation.ts';
import { maskedHeader } from './masks.ts';
import { pluginSource } from './places.ts';

/** The headers of the reply that plugins set, in the order of the reply. */
export function describeReplyHeaders(seen: Observation): readonly HeaderExplanation[] {
  const { headers, marks } = seen.reply;
  return [...headers].flatMap(([name, value]) => {
    const setter = marks.setterOf(name, value);
    const shown = mayHoldCredential(name) ? maskedHeader(value) : value;
    return setter ? [{ name, value: shown, source: pluginSource(seen, setter) }] : [];
  });
}

/** A plugin that reads the reply may fail at an empty one. */
export function noteOfReply(seen: Observation, answered: Observation): readonly string[] {
  const { error } = answered.exchange;
  if (seen === answered || !error) return [];
  const by = error.plugin === undefined ? 'a plugin' : `the plugin ${error.plugin}`;
  return [`headers of the reply are not known: ${by} refused the empty reply that explain gave it`];
}
