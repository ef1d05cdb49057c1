# Runs named steps and tells the Go test that started this program about them:
# one JSON document a line on standard output, replies on standard input.
package Harness;

use strict;
use warnings;

use Exporter qw(import);
use JSON;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(say_json step ask equal refused eventually raw skip);

$| = 1;

my $json = JSON->new->canonical->allow_nonref;

sub say_json { print $json->encode( {@_} ), "\n" }

# step runs one step and reports how it went; a failure does not end the program.
sub step {
    my ( $name, $run ) = @_;
    if ( eval { $run->(); 1 } ) {
        say_json( step => $name, ok => JSON::true );
    }
    elsif ( ref $@ eq 'Harness::Skipped' ) {
        say_json( step => $name, ok => JSON::true, skipped => ${$@} );
    }
    else {
        say_json( step => $name, ok => JSON::false, message => "$@" );
    }
}

# skip ends a step that cannot be run.
sub skip {
    my ($reason) = @_;
    die bless( \$reason, 'Harness::Skipped' );
}

# ask has the Go test do something to the server, and tells whether it could.
sub ask {
    my ($what) = @_;
    say_json( ask => $what );
    return ( <STDIN> // '' ) =~ /^done$/;
}

sub equal {
    my ( $got, $want ) = map { $json->encode($_) } @_;
    die "got $got, want $want" unless $got eq $want;
}

# refused makes a request that has to fail with this code and reason; returns the
# Status, which the client has in the text of its exception.
sub refused {
    my ( $code, $reason, $request ) = @_;
    my $made = eval { $request->() };
    my $error = $@ or die 'not refused: ' . $json->encode($made);
    my ( $got, $body ) = $error =~ /API Exception\((\d+)\): [^\n]*\n(\{.*\})\n?/s or die $error;
    my $status = decode_json($body);
    equal( [ $got + 0, @$status{qw(kind code reason)} ], [ $code, 'Status', $code, $reason ] );
    return $status;
}

# eventually waits until $condition returns something true.
sub eventually {
    my ( $what, $condition ) = @_;
    my $deadline = time + 60;
    until ( $condition->() ) {
        die "$what: not after 60 s" if time > $deadline;
        sleep 0.05;
    }
}

# raw makes a request through the client's call_api and returns the reply as it came.
sub raw {
    my ( $client, $method, $path, %more ) = @_;
    my %headers = ( 'Accept' => 'application/json', 'Content-Type' => 'application/json', %{ $more{headers} // {} } );
    my $body = $more{body} && encode_json( $more{body} );
    return $client->call_api( $path, $method, $more{query} // {}, {}, \%headers, $body, ['BearerToken'] );
}

1;
