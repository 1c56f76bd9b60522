import type { ListedRequest } from '../../api/shapes.ts';
import { stateColumn, textColumn, type Column } from '../../parts/columns.tsx';
import { clock, count, moment, ms } from '../../parts/format.ts';
import { stateOf } from './rows.ts';

const modelOf = ({ provider, request_model, alias }: ListedRequest): string | undefined =>
  request_model === undefined ? alias : `@${provider}/${request_model}`;

export const COLUMNS: readonly Column<ListedRequest>[] = [
  {
    label: 'Time',
    width: 68,
    title: ({ time }) => moment(time),
    cell: ({ time }) => <span class="mono second">{clock(time)}</span>,
  },
  stateColumn('Result', 96, stateOf),
  textColumn('Key', [80, 1.1], ({ key_id: id }) => id ?? 'no key'),
  textColumn('Config', [80, 1.2], ({ config_id: id }) => id ?? 'none', 'both'),
  {
    label: 'Model',
    width: [125, 2.4],
    off: 'narrow',
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
  { label: 'Tries', width: 44, off: 'both', number: true, cell: ({ attempts, retries }) => count(attempts + retries) },
  { label: 'Duration', width: 70, number: true, cell: ({ duration_ms: took }) => ms(took) },
  { label: 'Status', width: 64, off: 'both', number: true, cell: ({ status }) => status ?? '' },
];
