import { relative } from 'node:path';
import type { SettingPlace } from '../explanation/explanation.ts';
import type { Observation, SeenAttempt } from '../explain/observation.ts';
import {
  catalogSource,
  configSource,
  keySource,
  listedSlug,
  ownSource,
  placeOf,
  sourceInCatalog,
  targetPlace,
} from '../explain/describe/places.ts';

type Place = SettingPlace | undefined;

/** With its file as a name in the folder of the settings. */
const inFolder = ({ loaded }: Observation, place: Place): Place =>
  place && { ...place, file: relative(loaded.folder, place.file) };

export const conditionPlace = (seen: Observation, at: string, index: number | undefined): Place =>
  inFolder(
    seen,
    placeOf(ownSource(seen, at, index === undefined ? ['strategy', 'default'] : ['strategy', 'conditions', index])),
  );

export const groupPlace = (seen: Observation, at: string): Place => inFolder(seen, targetPlace(seen, at));

/** The line that sent a request to a target: the condition that held, else the target, else what names it in the catalog. */
export function decidingPlace(seen: Observation, { attempt: { target }, resolved }: SeenAttempt): Place {
  const { conditions, alias } = seen.exchange;
  const last = conditions.findLast(({ to }) => target.path === to || target.path.startsWith(`${to}.`));
  return (
    (last && conditionPlace(seen, last.at, last.condition)) ??
    inFolder(seen, targetPlace(seen, target.path)) ??
    inFolder(seen, placeOf(alias && sourceInCatalog(seen, ['aliases', alias.listed]))) ??
    inFolder(seen, placeOf(catalogSource(seen, listedSlug(resolved), [])))
  );
}

/** The line of the key, whose rights decide about most requests that are refused before any target. */
export const keyPlace = (seen: Observation): Place => {
  const { caller } = seen.exchange;
  return caller && inFolder(seen, placeOf(keySource(seen, caller.keyId, [])));
};

/** The line that says how a field is sent to a target. */
export function fieldPlace(seen: Observation, target: string, path: string): Place {
  const keys = path.split('.');
  const drops = configSource(seen, target, ['drop_params']);
  return inFolder(
    seen,
    placeOf(configSource(seen, target, ['override_params', ...keys], ['default_params', ...keys]) ?? drops),
  );
}
