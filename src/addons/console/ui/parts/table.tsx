import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { density } from './prefs.ts';

export interface Column<Row> {
  readonly label: string;
  /** Pixels; or at least so many, and its share of what is left. */
  readonly width: number | readonly [least: number, share: number];
  /** Where there is no room for it: beside the detail of a row, on a narrow screen, or on both. */
  readonly off?: 'beside' | 'narrow' | 'both' | undefined;
  readonly number?: boolean;
  readonly title?: (row: Row) => string | undefined;
  readonly cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  readonly selected?: string | null;
  readonly onOpen: (id: string) => void;
  readonly onEnd?: () => void;
  readonly onTop?: (isTop: boolean) => void;
  readonly foot?: ComponentChildren;
  /** A row that has just come. */
  readonly isNew?: (row: Row) => boolean;
}

/** Rows of one height, of which only those in sight are elements. */
export function Table<Row>(props: TableProps<Row>) {
  const { rows, idOf, selected = null, columns } = props;
  const box = useRef<HTMLDivElement>(null);
  const virtual = useRows(box, props);
  const at = selected === null ? -1 : rows.findIndex((row) => idOf(row) === selected);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
  }, [selected]);
  return (
    <div class="table" style={useMemo(() => widthsOf(columns), [columns])}>
      <div class="table-grid" role="table" aria-label={props.label} aria-rowcount={rows.length + 1}>
        <div role="rowgroup" class="table-head">
          <div role="row" class="table-row" aria-rowindex={1}>
            {columns.map(({ label, number, off = '' }) => (
              <span key={label} role="columnheader" class={`cut off-${off}${number ? ' right' : ''}`}>
                {label}
              </span>
            ))}
          </div>
        </div>
        <div ref={box} class="table-body" role="rowgroup" tabIndex={0} aria-label={props.label}>
          <div role="presentation" class="table-space" style={{ height: `${virtual.getTotalSize()}px` }}>
            {virtual.getVirtualItems().map(({ index, start }) => {
              const row = rows[index];
              if (row === undefined) return null;
              const id = idOf(row);
              return (
                <div
                  key={id}
                  role="row"
                  aria-rowindex={index + 2}
                  aria-current={id === selected ? 'true' : undefined}
                  class={`table-row${props.isNew?.(row) ? ' new' : ''}`}
                  style={{ transform: `translateY(${start}px)` }}
                  onClick={() => props.onOpen(id)}
                >
                  {columns.map(({ label, number, cell, title, off = '' }) => (
                    <span key={label} role="cell" class={`cut off-${off}${number ? ' num' : ''}`} title={title?.(row)}>
                      {cell(row)}
                    </span>
                  ))}
                </div>
              );
            })}
          </div>
        </div>
      </div>
      {props.foot}
    </div>
  );
}

/** The widths of the columns that are left on a wide screen, beside a detail, and on a narrow screen. */
function widthsOf(columns: readonly Pick<Column<never>, 'width' | 'off'>[]): Readonly<Record<string, string>> {
  const widths = (without: string, shrunk = 1): string =>
    columns
      .filter(({ off = '' }) => off === '' || (off !== without && (off !== 'both' || without === '')))
      .map(({ width }) => (typeof width === 'number' ? `${width}px` : `minmax(${width[0] * shrunk}px, ${width[1]}fr)`))
      .join(' ');
  return { '--whole': widths(''), '--beside': widths('beside', 0.8), '--narrow': widths('narrow', 0.6) };
}

const NEAR_END = 40;

function useRows<Row>(box: { readonly current: HTMLDivElement | null }, { rows, onEnd, onTop, idOf }: TableProps<Row>) {
  const [, draw] = useState(0);
  const height = density.value === 'compact' ? 26 : 32;
  const kept = useRef<Virtualizer<HTMLDivElement, HTMLDivElement>>(undefined);
  const options = {
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    getItemKey: (index: number) => (rows[index] === undefined ? index : idOf(rows[index])),
    overscan: 6,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: (virtual: Virtualizer<HTMLDivElement, HTMLDivElement>) => {
      draw((turn) => turn + 1);
      onTop?.((virtual.scrollOffset ?? 0) < height / 2);
      const last = virtual.getVirtualItems().at(-1);
      if (last && last.index > virtual.options.count - NEAR_END) onEnd?.();
    },
  };
  kept.current ??= new Virtualizer(options);
  const virtual = kept.current;
  virtual.setOptions(options);
  useEffect(() => virtual._didMount(), []);
  useEffect(() => virtual._willUpdate());
  useEffect(() => virtual.measure(), [height]);
  return virtual;
}
