// SPDX-License-Identifier: Apache-2.0
// One cell cursor for all tables of an element: each table is one tab stop, arrow keys move inside it.
import type { ReactiveController, ReactiveControllerHost } from 'lit';

interface Place {
  row: number;
  column: number;
}

interface Host extends ReactiveControllerHost {
  readonly renderRoot: ParentNode;
}

/** Cells carry data-grid, data-row and data-column; what they are (td, input) does not matter. */
export class GridCursor implements ReactiveController {
  private places = new Map<string, Place>();

  constructor(private host: Host) {
    host.addController(this);
  }
  hostConnected(): void {}

  tabIndex(grid: string, row: number, column: number): 0 | -1 {
    const place = this.places.get(grid) ?? { row: 0, column: 0 };
    return place.row === row && place.column === column ? 0 : -1;
  }

  /** After rows or columns were removed, the cursor stays inside. */
  clamp(grid: string, rows: number, columns: number): void {
    const place = this.places.get(grid);
    if (place)
      this.places.set(grid, {
        row: Math.min(place.row, rows - 1),
        column: Math.min(place.column, columns - 1),
      });
  }

  focused = (event: Event): void => {
    const cell = cellOf(event);
    if (!cell) return;
    const { grid, place } = cell;
    const before = this.places.get(grid);
    this.places.set(grid, place);
    if (before?.row !== place.row || before.column !== place.column) this.host.requestUpdate();
  };

  /** Moves on arrow, Home, End, Page keys; true when the key was one of ours. */
  key(event: KeyboardEvent): boolean {
    const cell = cellOf(event);
    if (!cell || event.altKey || event.metaKey || event.shiftKey) return false;
    const { row, column } = cell.place;
    const moves: Record<string, [number, number]> = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      Home: [event.ctrlKey ? 0 : row, 0],
      End: [event.ctrlKey ? Infinity : row, Infinity],
      PageUp: [0, column],
      PageDown: [Infinity, column],
    };
    const to = moves[event.key];
    if (!to || (event.ctrlKey && !['Home', 'End'].includes(event.key))) return false;
    event.preventDefault();
    this.move(cell.grid, ...to);
    return true;
  }

  /** Focuses the cell nearest to the wanted place. */
  move(grid: string, row: number, column: number): void {
    const cells = [...this.host.renderRoot.querySelectorAll<HTMLElement>(`[data-grid="${grid}"]`)];
    const last = { row: 0, column: 0 };
    for (const { dataset } of cells) {
      last.row = Math.max(last.row, Number(dataset.row));
      last.column = Math.max(last.column, Number(dataset.column));
    }
    const at = {
      row: Math.max(0, Math.min(last.row, row)),
      column: Math.max(0, Math.min(last.column, column)),
    };
    cells
      .find(({ dataset }) => Number(dataset.row) === at.row && Number(dataset.column) === at.column)
      ?.focus();
  }
}

function cellOf(event: Event): { grid: string; place: Place } | undefined {
  const cell = event
    .composedPath()
    .find((at): at is HTMLElement => at instanceof HTMLElement && !!at.dataset.grid);
  if (!cell) return undefined;
  const { grid = '', row, column } = cell.dataset;
  return { grid, place: { row: Number(row), column: Number(column) } };
}
