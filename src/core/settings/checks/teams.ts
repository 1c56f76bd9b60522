import type { GatewayKey } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import { storeSettings } from '../source/stored-objects.ts';
import { within, type Check, type CheckedSettings } from './check.ts';
import { withSuggestion } from './names.ts';

/** Checks that keys and teams name what exists. */
export const checkTeams: Check = (settings) => ({
  team({ organization }, report) {
    const known = Object.keys(settings.teams?.organizations ?? {});
    // Objects of the store come and go: a key whose team or organization is missing is refused then.
    if (isOwned(settings, 'organizations')) return;
    if (organization !== undefined && !known.includes(organization))
      report({
        path: ['organization'],
        message: `there is no organization \`${organization}\` in this file`,
        ...withSuggestion(organization, known),
      });
  },
  key(key, report) {
    checkTeamOf(key, settings, within(report, 'team'));
  },
});

const isOwned = ({ server }: CheckedSettings, kind: 'teams' | 'organizations'): boolean =>
  (server && storeSettings(server))?.owns.includes(kind) ?? false;

function checkTeamOf({ team }: GatewayKey, settings: CheckedSettings, report: Report): void {
  const { teams } = settings;
  if (team === undefined || !teams || isOwned(settings, 'teams')) return;
  const known = Object.keys(teams.teams ?? {});
  if (!known.includes(team))
    report({ path: [], message: `there is no team \`${team}\` in teams.yaml`, ...withSuggestion(team, known) });
}
