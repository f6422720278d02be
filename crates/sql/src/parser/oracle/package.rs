//! CREATE PACKAGE and CREATE PACKAGE BODY.
//!
//! A routine of a package is a program of its own, which names the variables of the package by
//! their numbers there ([`crate::ast::Local::Shared`]).

use selkie_meter::tick;
use selkie_types::error::catalogue::ER_END_IDENTIFIER_DOES_NOT_MATCH;

use crate::ast::{
    AccountName, CreatePackage, Ident, Package, PackageRoutine, Program, RoutineKind, Statement,
    Step,
};
use crate::lexer::{Kw, T};
use crate::parser::program::{Kind, Scope};
use crate::parser::{PResult, Parser};

impl Parser<'_> {
    /// `PACKAGE [BODY] ...`; the words before are consumed.
    pub(in crate::parser) fn create_package(
        &mut self,
        or_replace: bool,
        definer: Option<AccountName>,
    ) -> PResult<Statement> {
        self.expect(Kw::PACKAGE)?;
        let kind = match self.eat(Kw::BODY) {
            true => RoutineKind::PackageBody,
            false => RoutineKind::Package,
        };
        let if_not_exists = self.if_not_exists()?;
        self.check_or_replace(or_replace, if_not_exists)?;
        let name = self.program_name()?;
        let options = self.package_options()?;
        let start = self.tok.start;
        self.expect_any(&[Kw::AS, Kw::IS])?;
        let package = match kind {
            RoutineKind::PackageBody => self.package_body()?,
            _ => self.package_specification()?,
        };
        // Compat: the name behind END is no part of the stored text.
        let body_span = self.span_from(start);
        let end_name = self.end_name()?;
        Ok(Statement::CreatePackage(Box::new(CreatePackage {
            or_replace,
            if_not_exists,
            definer,
            kind,
            name,
            options,
            package,
            body_span,
            end_name,
        })))
    }

    fn package_options(&mut self) -> PResult<crate::ast::RoutineOptions> {
        match self.at_any(&[Kw::COMMENT, Kw::SQL]) {
            true => self.routine_options(),
            false => Ok(Default::default()),
        }
    }

    /// The routine of the package `package` whose name follows, as `package.name`.
    pub(in crate::parser) fn member_name(&mut self, package: &Ident) -> PResult<Ident> {
        let name = self.ident()?;
        Ok(Ident { value: format!("{}.{}", package.value, name.value).into(), ..name })
    }

    /// Declarations of routines up to END.
    fn package_specification(&mut self) -> PResult<Package> {
        let mut package = Package::default();
        while !self.eat(Kw::END) {
            package.routines.push(self.declared_routine(Scope::default())?.0);
            self.expect(T::Semicolon)?;
        }
        Ok(package)
    }

    /// Variables, routines and the block that runs first, up to END.
    fn package_body(&mut self) -> PResult<Package> {
        let mut package = Package::default();
        let outer = self.program.replace(Box::new(Scope::new(Kind::Package)));
        let result = self.package_parts(&mut package);
        let scope = std::mem::replace(&mut self.program, outer);
        result?;
        package.variables = scope.map(|scope| scope.variables).unwrap_or_default();
        Ok(package)
    }

    fn package_parts(&mut self, package: &mut Package) -> PResult<()> {
        let mut steps = Vec::new();
        while !self.at_any(&[Kw::PROCEDURE, Kw::FUNCTION]) {
            if self.at_any(&[Kw::BEGIN, Kw::END, Kw::CURSOR]) {
                return Err(self.error());
            }
            if let T::Word(Kw::EXCEPTION | Kw::CONDITION | Kw::CURSOR) = self.peek() {
                self.next();
                return Err(self.error());
            }
            if let Step::Declare { variables, default } = self.variable_declaration()? {
                steps.push(Step::Share { variables, default });
            }
            self.expect(T::Semicolon)?;
        }
        while self.at_any(&[Kw::PROCEDURE, Kw::FUNCTION]) {
            let inner = Scope::within(self.program.as_deref());
            tick(64 * inner.shared.len());
            package.routines.push(self.package_routine(inner)?);
            self.expect(T::Semicolon)?;
        }
        if !self.at(Kw::BEGIN) {
            self.expect(Kw::END)?;
            package.start = Program { steps, ..Program::default() };
            return Ok(());
        }
        let inner = Scope::within(self.program.as_deref());
        let (mut start, _) =
            self.program(inner.of_kind(Kind::Procedure), |p| Ok(vec![p.body_block()?]))?;
        start.steps.splice(0..0, steps);
        package.start = start;
        Ok(())
    }

    /// `PROCEDURE name ...` or `FUNCTION name ...`, with a body or without.
    fn package_routine(&mut self, scope: Scope) -> PResult<PackageRoutine> {
        let (mut routine, scope) = self.declared_routine(scope)?;
        if self.eat_any(&[Kw::AS, Kw::IS]).is_some() {
            let (program, scope) = self.program(scope, |p| {
                let block = p.body_block()?;
                if p.at_ident() {
                    let end = p.ident()?;
                    if !end.is(&routine.name.value) {
                        let def = &ER_END_IDENTIFIER_DOES_NOT_MATCH;
                        return p.fail(def, &[&end, &routine.name]);
                    }
                }
                Ok(vec![block])
            })?;
            scope.check_sub_statement()?;
            routine.has_return = scope.returns;
            routine.body = Some(program);
        }
        Ok(routine)
    }

    /// The head of a routine, with the scope of its parameters.
    fn declared_routine(&mut self, scope: Scope) -> PResult<(PackageRoutine, Scope)> {
        let kind = match self.expect_any(&[Kw::PROCEDURE, Kw::FUNCTION])? {
            Kw::FUNCTION => RoutineKind::Function,
            _ => RoutineKind::Procedure,
        };
        let mut scope = scope.of_kind(match kind {
            RoutineKind::Function => Kind::Function,
            _ => Kind::Procedure,
        });
        let name = self.new_ident()?;
        let (parameters, _) = self.oracle_parameters(&mut scope)?;
        let types = scope.variables.iter().map(|variable| variable.ty.clone()).collect();
        let returns = match kind {
            RoutineKind::Function => Some(self.returned_type()?.0),
            _ => None,
        };
        let options = self.routine_options()?;
        let deterministic = options.deterministic == Some(true);
        let routine = PackageRoutine {
            kind,
            name,
            parameters,
            types,
            returns,
            deterministic,
            body: None,
            has_return: false,
        };
        Ok((routine, scope))
    }
}
