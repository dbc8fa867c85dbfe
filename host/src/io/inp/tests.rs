use super::*;
use std::path::Path;

fn deck(text: &str) -> Deck {
    Deck::parse(Path::new("part.inp"), text.as_bytes()).unwrap()
}

#[test]
fn cards_have_names_parameters_and_lines() {
    let deck =
        deck("** a comment\r\n*Node Print , nset = \"My Set\",\r\n TOTALS=yes\r\nU, RF\r\n**\r\n\r\n*STEP,NLGEOM\r\n");
    let [print, step] = &deck.cards[..] else { panic!("{:?}", deck.cards) };
    assert_eq!(
        (print.name.as_str(), print.value("NSET"), print.value("TOTALS")),
        ("NODEPRINT", Some("My Set"), Some("yes"))
    );
    assert_eq!(deck.written(print), "*Node Print");
    let lines: Vec<&str> = deck.lines(print).map(|line| line.text).collect();
    assert_eq!(lines, ["U, RF"]);
    assert!(step.has("NLGEOM") && step.value("NLGEOM").is_none());
}
