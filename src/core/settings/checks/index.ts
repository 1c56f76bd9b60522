import type { GatewayFile, ServerFile } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import { checkAliases } from './aliases.ts';
import { checkBreaker, checkTargets } from './targets.ts';
import type { Check, CheckedSettings, Reports } from './check.ts';
import { checkConditions } from './conditions.ts';
import { checkCredentials } from './credentials.ts';
import { checkDefaultConfigs } from './default-configs.ts';
import { checkEntries } from './entries.ts';
import { checkFields } from './fields.ts';
import { checkForwardHeaders } from './forward-headers.ts';
import { checkHosts } from './hosts.ts';
import { checkKeys } from './keys.ts';
import { checkNeeds } from './needs.ts';
import { checkNetworks } from './networks.ts';
import { checkOrigin } from './origin.ts';
import { checkParams } from './params.ts';
import { checkServer } from './server.ts';
import { checkStrategy } from './strategy.ts';
import { checkTeams } from './teams.ts';
import { checkTimes } from './times.ts';
import { walkConfig, walkSettings } from './walk.ts';

/** A check is a row here and a function that says which nodes it looks at. Add-ons add theirs. */
const CHECKS: Check[] = [
  checkAliases,
  checkBreaker,
  checkConditions,
  checkCredentials,
  checkDefaultConfigs,
  checkEntries,
  checkFields,
  checkForwardHeaders,
  checkHosts,
  checkKeys,
  checkNeeds,
  checkNetworks,
  checkOrigin,
  checkParams,
  checkServer,
  checkStrategy,
  checkTargets,
  checkTeams,
  checkTimes,
];

/** Called while an add-on is registered, before any settings are read. */
export const addChecks = (checks: readonly Check[]): void => void CHECKS.push(...checks);

const visitsOf = (settings: CheckedSettings) => CHECKS.map((check) => check(settings));

/** @param add takes problems of files that no load has parsed; without it they are left out */
export function checkMeaning(
  settings: CheckedSettings,
  reporter: Reports['reporter'],
  add: Reports['add'] = () => {},
): void {
  walkSettings(settings, visitsOf(settings), { reporter, add });
}

/**
 * Checks a config sent with a request. Its catalog entries are not checked here: target resolution reports unknown ones, within
 * what the key may use.
 */
export function checkInlineConfig(
  file: GatewayFile,
  server: ServerFile,
  inline: NonNullable<CheckedSettings['inline']>,
  report: Report,
): void {
  const none = { catalog: undefined, keys: undefined, gateway: new Map(), configIds: [], now: 0 };
  walkConfig(file, visitsOf({ ...none, server, inline }), report, inline.aliases);
}
