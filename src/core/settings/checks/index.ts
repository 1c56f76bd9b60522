import type { GatewayFile, ServerFile } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import { checkAliases } from './aliases.ts';
import { checkBreaker, checkTargets } from './targets.ts';
import type { Check, CheckedSettings, Reports } from './check.ts';
import { checkConditions } from './conditions.ts';
import { checkCredentials } from './credentials.ts';
import { checkDefaultConfigs, checkKeys, checkTeams } from './keys.ts';
import { checkEntries } from './entries.ts';
import { checkFields, checkParams } from './params.ts';
import { checkForwardHeaders } from './forward-headers.ts';
import { checkHosts, checkNetworks } from './hosts.ts';
import { checkNeeds } from './needs.ts';
import { checkServer } from './server.ts';
import { checkStrategy } from './strategy.ts';
import { checkTimes } from './times.ts';
import { walkConfig, walkSettings } from './walk.ts';

/** Rules for files only, and what a config sent with a request may not set: the hosts, the plugins. */
export const checkOrigin: Check = ({ inline }) =>
  inline
    ? {
        config({ file }, report) {
          if (file.custom_hosts) report(choosesHosts('custom_hosts'));
        },
        node({ file }, report) {
          if (file.plugins && !inline.plugins) report(CHOOSES_PLUGINS);
          if (file.remote_media) report(choosesHosts('remote_media'));
        },
      }
    : {
        // A request that sends `{}` does so deliberately.
        config({ file }, report) {
          if (Object.keys(file).length > 0) return;
          const message = 'this config is empty: requests that use it must name the provider and the model themselves';
          report({ path: [], severity: 'warning', message });
        },
      };

const CHOOSES_PLUGINS = {
  path: ['plugins'],
  on: 'key',
  message: 'a config sent with a request cannot choose `plugins`, because its key has no `inline_plugins`',
} as const;

const choosesHosts = (key: string) =>
  ({
    path: [key],
    on: 'key',
    message: `a config sent with a request cannot set \`${key}\`: only the operator may choose the hosts`,
  }) as const;

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

/** Checks an inline config. Target resolution reports unknown catalog entries, within what the key may use. */
export function checkInlineConfig(
  file: GatewayFile,
  server: ServerFile,
  inline: NonNullable<CheckedSettings['inline']>,
  report: Report,
): void {
  const none = { catalog: undefined, keys: undefined, gateway: new Map(), configIds: [], now: 0 };
  walkConfig(file, visitsOf({ ...none, server, inline }), report, inline.aliases);
}
