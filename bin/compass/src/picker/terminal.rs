//! The picker on a real terminal: raw mode, keys in, lines out on standard error.

use std::io::{self, Write as _};

use compass_client::model::Question;
use compass_domain::ask::AnswerDraft;
use crossterm::{
    cursor::{Hide, MoveToColumn, MoveUp, Show},
    event::{
        DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
        read,
    },
    queue,
    terminal::{Clear, ClearType, disable_raw_mode, enable_raw_mode, size},
};

use super::{Key, Picker, Step};
use crate::{failure::Failure, show};

const FALLBACK_SIZE: (u16, u16) = (80, 24);

/// Lets the person at the terminal answer; `None` if they leave, and the ask stays open. Blocks.
pub(crate) fn ask_person(questions: Vec<Question>) -> Result<Option<Vec<AnswerDraft>>, Failure> {
    let mut picker = Picker::new(questions);
    let _raw = RawMode::enter()?;
    let mut screen = Screen::default();
    loop {
        screen.draw(&picker)?;
        let Some(key) = key(read()?) else { continue };
        match picker.press(&key) {
            Step::Stay => {}
            Step::Send(answers) => return Ok(Some(answers)),
            Step::Leave => return Ok(None),
        }
    }
}

/// Raw mode, left again however the picker ends.
struct RawMode;

impl RawMode {
    fn enter() -> io::Result<Self> {
        enable_raw_mode()?;
        let raw = Self;
        let mut error = io::stderr();
        queue!(error, EnableBracketedPaste, Hide)?;
        error.flush()?;
        Ok(raw)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        let mut error = io::stderr();
        let _ = queue!(error, DisableBracketedPaste, Show);
        let _ = error.flush();
        let _ = disable_raw_mode();
    }
}

#[derive(Default)]
struct Screen {
    lines: usize,
    printed: Option<usize>,
}

impl Screen {
    fn draw(&mut self, picker: &Picker) -> io::Result<()> {
        let (width, height) = terminal_size();
        let mut error = io::stderr();
        self.erase(&mut error)?;
        if let Some((at, question)) = picker.question()
            && self.printed != Some(at)
        {
            let text = show::question(at, question, Some(width));
            error.write_all(text.replace('\n', "\r\n").as_bytes())?;
            self.printed = Some(at);
        }
        let lines = picker.lines(width, height);
        for line in &lines {
            error.write_all(line.as_bytes())?;
            error.write_all(b"\r\n")?;
        }
        self.lines = lines.len();
        error.flush()
    }

    fn erase(&self, error: &mut io::Stderr) -> io::Result<()> {
        if self.lines > 0 {
            queue!(error, MoveUp(u16::try_from(self.lines).unwrap_or(u16::MAX)))?;
        }
        queue!(error, MoveToColumn(0), Clear(ClearType::FromCursorDown))
    }
}

fn terminal_size() -> (usize, usize) {
    let (width, height) = match size() {
        Ok((width, height)) if width > 0 && height > 0 => (width, height),
        _ => FALLBACK_SIZE,
    };
    (usize::from(width), usize::from(height))
}

fn key(event: Event) -> Option<Key> {
    match event {
        Event::Key(KeyEvent { kind: KeyEventKind::Release, .. }) => None,
        Event::Key(key) => pressed(key),
        Event::Paste(text) => Some(Key::Paste(text)),
        // Draw again at the new size; no mode gives a meaning to an empty paste.
        Event::Resize(..) => Some(Key::Paste(String::new())),
        _ => None,
    }
}

fn pressed(key: KeyEvent) -> Option<Key> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(key.code, KeyCode::Char('c' | 'd')).then_some(Key::Interrupt);
    }
    Some(match key.code {
        KeyCode::Up => Key::Up,
        KeyCode::Down | KeyCode::Tab => Key::Down,
        KeyCode::Left => Key::Back,
        KeyCode::Enter => Key::Enter,
        KeyCode::Char(character) => Key::Char(character),
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Esc => Key::Escape,
        _ => return None,
    })
}
