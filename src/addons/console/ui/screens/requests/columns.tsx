import type { ListedRequest } from '../../api/shapes.ts';
import { Chip, toneOf } from '../../parts/chip.tsx';
import { clock, count, moment, ms } from '../../parts/format.ts';
import { zone } from '../../parts/prefs.ts';
import type { Column } from '../../parts/table.tsx';
import { stateOf } from './rows.ts';

const modelOf = ({ provider, request_model, alias }: ListedRequest): string | undefined =>
  request_model === undefined ? alias : `@${provider}/${request_model}`;

const CELLS = {
  time: {
    name: 'time',
    label: 'Time',
    title: ({ time }) => moment(time, zone.value),
    cell: ({ time }) => <span class="mono second">{clock(time, zone.value)}</span>,
  },
  result: { name: 'result', label: 'Result', cell: (row) => <Chip tone={toneOf(stateOf(row))}>{stateOf(row)}</Chip> },
  key: {
    name: 'key',
    label: 'Key',
    title: ({ key_id: id }) => id,
    cell: ({ key_id: id }) => id ?? <span class="third">no key</span>,
  },
  config: {
    name: 'config',
    label: 'Config',
    title: ({ config_id: id }) => id,
    cell: ({ config_id: id }) => id ?? <span class="third">none</span>,
  },
  model: {
    name: 'model',
    label: 'Model',
    title: modelOf,
    cell: (row) =>
      row.request_model === undefined ? (
        <span class="third">{row.error?.code ?? row.alias ?? 'none'}</span>
      ) : (
        <>
          <span class="third">@{row.provider}/</span>
          {row.request_model}
        </>
      ),
  },
  tries: { name: 'tries', label: 'Tries', number: true, cell: ({ attempts, retries }) => count(attempts + retries) },
  duration: { name: 'duration', label: 'Duration', number: true, cell: ({ duration_ms: took }) => ms(took) },
  status: { name: 'status', label: 'Status', number: true, cell: ({ status }) => status ?? '' },
} as const satisfies Readonly<Record<string, Column<ListedRequest>>>;

export const COLUMNS: readonly Column<ListedRequest>[] = Object.values(CELLS);
export const NARROW: readonly Column<ListedRequest>[] = [
  CELLS.time,
  CELLS.result,
  CELLS.key,
  CELLS.model,
  CELLS.duration,
];
