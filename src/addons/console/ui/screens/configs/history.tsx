import { api, ask, settingsTurn } from '../../api/index.ts';
import { moment } from '../../parts/format.ts';
import { Diff } from '../../parts/diff.tsx';
import { linesOfPatch } from '../../parts/patch.tsx';
import { Empty, Load } from '../../parts/states.tsx';

/** The versions of a file that this gateway has served, with who made them. */
export const History = ({ path }: { readonly path: string }) => (
  <Load
    of="history"
    read={(signal) => ask(api.GET('/settings/history', { params: {}, signal }))}
    news={settingsTurn.value}
  >
    {({ items }) => {
      const own = items.flatMap((version) => {
        const change = version.files.find((one) => one.path === path);
        return change ? [{ ...version, change }] : [];
      });
      const first = items.at(-1);
      return (
        <div class="stack">
          {own.length === 0 && (
            <Empty title="No change yet">
              <p>Each change of this text that takes effect is listed here.</p>
            </Empty>
          )}
          <ol class="stack tight">
            {own.map(({ hash, at, by, change }) => (
              <li key={`${at} ${hash}`}>
                <details class="card">
                  <summary>
                    {moment(at)} by {by ?? 'a change of the files'}, settings <code>{hash.slice(0, 8)}</code>
                  </summary>
                  {change.patch === undefined ? (
                    <p class="second">The difference is no longer kept.</p>
                  ) : (
                    <Diff lines={linesOfPatch(change.patch)} label={`Change of ${path}`} />
                  )}
                </details>
              </li>
            ))}
          </ol>
          {first && (
            <p class="third">
              Kept since {moment(first.at)}, when this gateway started or before the last 100 versions.
            </p>
          )}
        </div>
      );
    }}
  </Load>
);
